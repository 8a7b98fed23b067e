import type { Claims } from './record.ts';

type Writable<Value> = { -readonly [Name in keyof Value]: Value[Name] };

/** Claims with members that may be undefined, in any order. */
export type Facts = Pick<Claims, 'channel'> & { readonly [Name in keyof Claims]?: Claims[Name] | undefined };

/** The claims that some facts make: those that are given, with their members in canonical order. */
export function claimsOf(facts: Facts): Claims {
  const claims: Writable<Claims> = { channel: facts.channel };
  if (facts.confidenceScore !== undefined) claims.confidenceScore = facts.confidenceScore;
  if (facts.dataHash !== undefined) claims.dataHash = facts.dataHash;
  if (facts.environment !== undefined) claims.environment = facts.environment;
  if (facts.eventType !== undefined) claims.eventType = facts.eventType;
  if (facts.inputHash !== undefined) claims.inputHash = facts.inputHash;
  if (facts.jurisdiction !== undefined) claims.jurisdiction = facts.jurisdiction;
  if (facts.matched !== undefined) claims.matched = facts.matched;
  if (facts.modelId !== undefined) claims.modelId = facts.modelId;
  if (facts.modelVersion !== undefined) claims.modelVersion = facts.modelVersion;
  if (facts.outputHash !== undefined) claims.outputHash = facts.outputHash;
  if (facts.referenceDatabase !== undefined) claims.referenceDatabase = facts.referenceDatabase;
  if (facts.riskLevel !== undefined) claims.riskLevel = facts.riskLevel;
  if (facts.systemId !== undefined) claims.systemId = facts.systemId;
  if (facts.thirdPartyModel !== undefined) claims.thirdPartyModel = facts.thirdPartyModel;
  return claims;
}
