//! Height of the tide at Quarrow, by harmonic analysis.
//! Maintained by {{email_pilot}}.

/// The main lunar constituent: amplitude in metres, speed in degrees per hour.
const M2: (f64, f64) = (1.32, 28.984_104);

/// Water level in metres above chart datum, `hours` after the epoch.
pub fn level(hours: f64) -> f64 {
    let (amplitude, speed) = M2;
    2.1 + amplitude * (speed * hours).to_radians().cos()
}
