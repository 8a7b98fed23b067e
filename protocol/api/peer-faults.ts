/**
 * What a node can catch a peer at.
 * `malformed`: bytes or a page that no honest node sends, another node's data among them · `forged`: a signature or
 * hash that does not hold · `misdated`: an envelope announced with a time far from now (its clock is wrong, or ours, or
 * it back-dates; what counts is the ledger's time) · `contradiction`: its own signatures do not fit together ·
 * `equivocation`: two envelopes for one batch number, as it signed them, or a name of another one on the ledger ·
 * `withheld`: it does not show what it says it holds · `slow`: an answer that did not come in time · `oversize`: a
 * message, request or answer over its limit · `flood`: more than a peer may send.
 */
export const PEER_FAULTS = [
  'malformed',
  'forged',
  'misdated',
  'contradiction',
  'equivocation',
  'withheld',
  'slow',
  'oversize',
  'flood',
] as const;

export type PeerFault = (typeof PEER_FAULTS)[number];
