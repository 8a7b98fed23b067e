/** The official lists that a node knows how to read. */
export const LIST_IDS = [
  'us-ofac-sdn',
  'us-ofac-consolidated',
  'un-sc-consolidated',
  'uk-sanctions-list',
  'eu-consolidated',
  'us-bis-entity-list',
] as const;
export type ListId = (typeof LIST_IDS)[number];

const KNOWN: ReadonlySet<string> = new Set(LIST_IDS);

export function isListId(text: string): text is ListId {
  return KNOWN.has(text);
}
