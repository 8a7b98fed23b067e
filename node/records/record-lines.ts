import type { WholeTexts } from '../../protocol/chain/record.ts';

/** Records as lines: the head of each, then its body. Canonical JSON holds no raw line break. */
export function joinTexts(records: readonly WholeTexts[]): string {
  let lines = '';
  for (const { head, body } of records) lines += lines === '' ? `${head}\n${body}` : `\n${head}\n${body}`;
  return lines;
}

/**
 * The records of such lines, whatever they hold: a head whose body is cut off has an empty one, which none names.
 * `most`: records that are read. Default: all.
 */
export function splitTexts(lines: string, most?: number): WholeTexts[] {
  const texts = lines.split('\n', most && 2 * most);
  const records: WholeTexts[] = [];
  for (let i = 0; i < texts.length; i += 2) records.push({ head: texts[i] ?? '', body: texts[i + 1] ?? '' });
  return records;
}
