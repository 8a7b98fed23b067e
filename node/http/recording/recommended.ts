/** Warns of a word that is not among the recommended ones: it is signed as it is. */
export function recommendedWarnings(field: string, word: string | undefined, recommended: readonly string[]): string[] {
  if (word === undefined || recommended.includes(word)) return [];
  return [`${field}: ${JSON.stringify(word)} is none of ${recommended.join(', ')}; signed as given`];
}
