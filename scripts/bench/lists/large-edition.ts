import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** What the longest remarks of a real list are like: a quarter of the file. */
const REMARK = 'DOB 01 Jan 1970; POB Sampleville; nationality Sampleland; Gender Male; Passport X0000000 (Sampleland)';

/** Writes OFAC's four files with this many made-up entries; returns the folder that holds their sub-folder. */
export async function writeLargeEdition(directory: string, entries: number): Promise<string> {
  const folder = join(directory, 'us-ofac-sdn');
  await mkdir(folder, { recursive: true });
  const rows = Array.from({ length: entries }, (_, i) => i + 1);
  const main = rows.map((id) => {
    const empty = '-0- ,-0- ,-0- ,-0- ,-0- ,-0- ,-0- ';
    return `${id},"SAMPLE ${id}, Given ${id % 997}","individual","SDGT] [SAMPLE",${empty},"${REMARK}; a.k.a. 'S${id}'."`;
  });
  const aliases = rows.map((id) => `${id},${id},"aka","OTHER ${id}, Name ${id % 991}",-0- `);
  const file = (lines: readonly string[]): string => `${lines.map((line) => `${line}\r\n`).join('')}\u001a`;
  await writeFile(join(folder, 'sdn.csv'), file(main));
  await writeFile(join(folder, 'alt.csv'), file(aliases));
  await writeFile(join(folder, 'sdn_comments.csv'), file([]));
  return directory;
}
