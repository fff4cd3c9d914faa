-- Owner: {{email_office}}, replica at {{ipv4}}
CREATE TABLE berth (
  id         text PRIMARY KEY,
  length_m   numeric NOT NULL CHECK (length_m > 0),
  fee_night  numeric NOT NULL
);
INSERT INTO payer VALUES ('A1', '{{iban_plain}}', '{{card_plain}}');
