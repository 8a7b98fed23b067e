import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { type PageFiles, pageFiles } from '../../../node/pages/page-files.ts';

const folder = await mkdtemp(join(tmpdir(), 'meridian-pages-'));
test.after(() => rm(folder, { recursive: true, force: true }));

function textsOf({ files }: PageFiles): readonly string[] {
  return [...files.values()].map(({ bytes }) => Buffer.from(bytes).toString());
}

test('the files are made once, and what was made of other sources is taken away', async () => {
  await mkdir(join(folder, 'of-before'), { recursive: true });
  await writeFile(join(folder, 'of-before', 'manifest.json'), '{}');
  const first = await pageFiles(folder);
  const [made, ...others] = await readdir(folder);
  assert.equal([typeof made, others], ['string', []]);
  await writeFile(join(folder, made ?? '', first.assets.style), '/* as it was left */');
  const again = await pageFiles(folder);
  assert.ok(textsOf(again).includes('/* as it was left */'), 'taken from where they were made');
  await rm(join(folder, made ?? ''), { recursive: true });
  const anew = await pageFiles(folder);
  assert.equal(textsOf(anew), textsOf(first), 'byte for byte as before');
});

test('a browser is given nothing that evaluates code, asks elsewhere, or has a module of Node', async () => {
  for (const text of textsOf(await pageFiles(folder))) {
    assert.not.match(text, /new Function|globalThis\.Function|\beval\(|from"node:|dangerouslySetInnerHTML:/);
    assert.not.match(text, /(?:fetch|import)\("https?:/);
  }
});

test('two at a time in a process make the same', async () => {
  const both = await mkdtemp(join(tmpdir(), 'meridian-pages-'));
  const [one, other] = await Promise.all([pageFiles(both), pageFiles(both)]);
  assert.equal(one.assets, other.assets);
  await rm(both, { recursive: true });
});

test.run();
