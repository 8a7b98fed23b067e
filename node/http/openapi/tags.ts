import type { JsonObject } from '../../../protocol/json/value.ts';
import type { Route } from '../route.ts';

/** The parts of the API, in the order in which they are shown. */
const TAGS = {
  decisions: 'Records of decisions, sessions and agents.',
  governance: 'Reviews, incidents, assessments, locks and erasures.',
  proofs: 'Whether a record is proved, and the files that prove it.',
  reports: 'What is on record: lists, reports, the log of key uses.',
  accounts: 'Accounts, API keys and their use.',
  federation: 'The node, its federation and their public log.',
  paid: 'Paid for by the call (x402 version 2).',
  documents: 'What the API is: this document, the problems, what is sold.',
} as const;
type Tag = keyof typeof TAGS;

/** By the beginning of the path; the first that fits counts. */
const BEGINNINGS: readonly (readonly [beginning: string, tag: Tag])[] = [
  ['/v1/x402/', 'paid'],
  ['/v1/attestations', 'reports'],
  ['/v1/attest', 'decisions'],
  ['/v1/tiered-attest', 'decisions'],
  ['/v1/session/', 'decisions'],
  ['/v1/agents/', 'decisions'],
  ['/agents/', 'decisions'],
  ['/v1/human-override', 'governance'],
  ['/v1/incidents', 'reports'],
  ['/v1/incident', 'governance'],
  ['/v1/retention', 'governance'],
  ['/v1/risk-assessment', 'governance'],
  ['/v1/impact-assessment', 'governance'],
  ['/v1/corrective-action', 'governance'],
  ['/v1/erasures', 'governance'],
  ['/v1/status/', 'proofs'],
  ['/v1/verify/', 'proofs'],
  ['/v1/bundles/', 'proofs'],
  ['/v1/proofs/', 'proofs'],
  ['/v1/frameworks', 'reports'],
  ['/v1/reports/', 'reports'],
  ['/v1/audit-log', 'reports'],
  ['/v1/sources/', 'reports'],
  ['/v1/account', 'accounts'],
  ['/v1/keys', 'accounts'],
  ['/v1/lost-key', 'accounts'],
  ['/v1/sign-up', 'accounts'],
  ['/v1/usage', 'accounts'],
  ['/v1/health', 'federation'],
  ['/v1/federation', 'federation'],
  ['/v1/chains/', 'federation'],
  ['/v1/signing-keys', 'federation'],
  ['/v1/revocations', 'federation'],
  ['/v1/rosters', 'federation'],
  ['/v1/equivocations', 'federation'],
  ['/v1/log/', 'federation'],
  ['/problems/', 'documents'],
  ['/.well-known/', 'documents'],
  ['/llms.txt', 'documents'],
  ['/openapi.json', 'documents'],
];

/** The part that a route belongs to. Throws `RangeError` where the table has none for its path. */
export function tagOf({ path }: Pick<Route, 'path'>): Tag {
  const found = BEGINNINGS.find(([beginning]) => path.startsWith(beginning));
  if (found === undefined) throw new RangeError(`${path} has no tag: name it in openapi/tags.ts`);
  return found[1];
}

/** The parts as the document lists them. */
export function tagList(): JsonObject[] {
  return Object.entries(TAGS).map(([name, description]) => ({ name, description }));
}
