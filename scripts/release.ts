// npm run release: the verifier in one file each, for a browser and for any Node from 20 on.
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { requireCommandLine } from '../node/config/command-line.ts';
import { verifierFiles } from '../node/pages/verifier-files.ts';

const USAGE = `npm run release [-- --out DIR]

Makes meridian-verify.html and meridian-verify.mjs, and SHA256SUMS beside them, in DIR (default dist/). The same sources make
the same bytes.`;

const { values } = requireCommandLine(USAGE, { out: { type: 'string' } });
const folder = values.out ?? join(import.meta.dirname, '../dist');
await mkdir(folder, { recursive: true });
const files = await verifierFiles();
for (const { name, bytes, sha256 } of files) {
  await writeFile(join(folder, name), bytes);
  console.log(`${sha256}  ${name}  ${bytes.length} bytes`);
}
await writeFile(join(folder, 'SHA256SUMS'), files.map(({ name, sha256 }) => `${sha256}  ${name}\n`).join(''));
