// npm run release: the verifier in one file each, for a browser and for any Node from 20 on.
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { endWithUsageError, requireCommandLine } from '../node/config/command-line.ts';
import { verifierFiles } from '../node/pages/verifier-files.ts';
import { workOnPath } from './command-line.ts';

const USAGE = `npm run release [-- --out DIR]

Makes meridian-verify.html and meridian-verify.mjs, and SHA256SUMS beside them, in DIR (default dist/). The same sources make
the same bytes.

Exit: 0 made · 2 wrong usage, or DIR cannot be written`;

const { values } = requireCommandLine(USAGE, { out: { type: 'string' } });
const folder = values.out ?? join(import.meta.dirname, '../dist');
await inFolder(() => mkdir(folder, { recursive: true }));
const files = await verifierFiles();
await inFolder(async () => {
  for (const { name, bytes, sha256 } of files) {
    await writeFile(join(folder, name), bytes);
    console.log(`${sha256}  ${name}  ${bytes.length} bytes`);
  }
  await writeFile(join(folder, 'SHA256SUMS'), files.map(({ name, sha256 }) => `${sha256}  ${name}\n`).join(''));
});

/** Ends the process with a usage error where the folder is none that can be written. */
function inFolder(work: () => Promise<unknown>): Promise<unknown> {
  return workOnPath(folder, work).catch((error: unknown) => endWithUsageError(error));
}
