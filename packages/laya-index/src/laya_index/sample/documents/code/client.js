// Asks the gauge for the level that the sluice of the tide mill waits for.
const headers = { Authorization: "Bearer {{secret_jwt}}" };
const awsKey = "{{secret_aws}}";
export async function gaugeLevel(host = "{{ipv6}}") {
  const answer = await fetch(`https://[${host}]/level`, { headers });
  return (await answer.json()).level_m;
}
