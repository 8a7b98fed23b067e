import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdir, mkdtemp, readdir, readFile, rm, stat, symlink, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { certificatePdf } from '../../../node/certificates/certificate-page.ts';
import { compiledNode } from '../../../node/compiled/compiled-node.ts';
import { readSources, ROOT } from '../../../node/compiled/source-files.ts';
import { CHILD_ENVIRONMENT } from '../../fixtures/child-environment.ts';
import { EXAMPLE_FACTS, EXAMPLE_PROOF } from '../certificates/example-facts.ts';

const SOURCES = join(import.meta.dirname, '../../../node/run.ts');
const KEPT = 20;

interface Folder extends AsyncDisposable {
  readonly path: string;
}

async function newFolder(): Promise<Folder> {
  const path = await mkdtemp(join(tmpdir(), 'meridian-compiled-'));
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) };
}

/** The folder of a form in which a node stands, which was not made of its sources. */
function formOf({ entry, fault }: Awaited<ReturnType<typeof compiledNode>>): string {
  assert.is(fault, null);
  assert.is(basename(entry.pathname), 'run.mjs');
  return dirname(fileURLToPath(entry));
}

test('a node is compiled once for its sources, by however many at once, and nothing is left beside it', async () => {
  await using folder = await newFolder();
  const [one, other] = await Promise.all([compiledNode(folder.path), compiledNode(folder.path)]);
  const form = formOf(one);
  assert.is(formOf(other), form);
  assert.is(basename(form), readSources().hash);
  const { ino } = await stat(form);
  assert.is(formOf(await compiledNode(folder.path)), form);
  assert.is((await stat(form)).ino, ino);
  assert.equal(await readdir(folder.path), [basename(form)]);
});

test('it names no file that is not there: scripts of threads lie beside it, and folders are those of the sources', async () => {
  await using folder = await newFolder();
  const form = formOf(await compiledNode(folder.path));
  const names = await readdir(form);
  const scripts = new Set<string>();
  for (const name of names) {
    // A long line is broken, where it must be within a string.
    const text = (await readFile(join(form, name), 'utf8')).replaceAll('\\\n', '');
    assert.not.match(text, 'import.meta.dirname', name);
    for (const [, script = ''] of text.matchAll(/new URL\(\s*"\.\/([^"]+)",\s*import\.meta\.url\)/g)) {
      scripts.add(script);
    }
    const parts = [...text.matchAll(/(?:from|import\(?)\s*"\.\/([^"]+)"/g)].map(([, part = '']) => part);
    for (const part of parts) assert.ok(names.includes(part), part);
  }
  assert.ok(scripts.has('judging-worker.mjs') && scripts.has('giving-way.mjs'), [...scripts].join());
  for (const script of scripts) assert.ok(names.includes(script), script);
});

test('its main file has no character that would take two bytes of memory for each of its text', async () => {
  await using folder = await newFolder();
  const text = await readFile(join(formOf(await compiledNode(folder.path)), 'run.mjs'), 'utf8');
  assert.match(text, /^[\0-\u007f]+$/);
});

test('it runs, where packages are found from its folder', async () => {
  const { entry, fault } = await compiledNode();
  assert.is(fault, null);
  const { status, stdout } = spawnSync(process.execPath, [fileURLToPath(entry), '--help'], {
    env: CHILD_ENVIRONMENT,
    encoding: 'utf8',
  });
  assert.equal([status, stdout], [0, 'usage: npm run node [-- --reread-ledger]\n']);
});

test('its documents are the bytes that the sources make, and no reader of font files is loaded for them', async () => {
  await using folder = await newFolder();
  const form = formOf(await compiledNode(folder.path));
  // Packages are found from there.
  await symlink(join(ROOT, 'node_modules'), join(folder.path, 'node_modules'));
  const thread = new Worker(join(form, 'certificate-worker.mjs'));
  thread.postMessage({ facts: EXAMPLE_FACTS, proof: EXAMPLE_PROOF }, []);
  const [pdf]: Uint8Array[] = await once(thread, 'message');
  await thread.terminate();
  assert.ok(pdf !== undefined && Buffer.from(pdf).equals(await certificatePdf(EXAMPLE_FACTS, EXAMPLE_PROOF)));
  for (const name of await readdir(form)) {
    if (!name.endsWith('.mjs')) continue;
    const text = await readFile(join(form, name), 'utf8');
    assert.not.match(text, /from "(?:fontkit|pdfkit)"/, name);
    assert.not.match(text, 'TTFFont', name);
  }
});

test('where it cannot be made, the sources are run, and it is said why', async () => {
  await using folder = await newFolder();
  const file = join(folder.path, 'a-file');
  await writeFile(file, '');
  const { entry, fault } = await compiledNode(join(file, 'below'));
  assert.is(fileURLToPath(entry), SOURCES);
  assert.match(fault ?? '', 'ENOTDIR');
});

test('forms of other sources are kept for nodes that run from them, the last ones used', async () => {
  await using folder = await newFolder();
  for (let n = 0; n < KEPT + 5; n++) {
    const path = join(folder.path, `older-${String(n).padStart(2, '0')}`);
    await mkdir(path);
    await utimes(path, n + 1, n + 1);
  }
  const form = basename(formOf(await compiledNode(folder.path)));
  const left = (await readdir(folder.path)).toSorted();
  assert.is(left.length, KEPT);
  assert.ok(left.includes(form));
  assert.is(
    left.find((name) => name !== form),
    'older-06',
  );
});

test('another text, name or place of a source, or other packages, are other sources', async () => {
  await using folder = await newFolder();
  const made = async (name: string, files: Readonly<Record<string, string>>): Promise<string> => {
    const root = join(folder.path, name);
    await rm(root, { recursive: true, force: true });
    for (const [path, text] of Object.entries(files)) {
      await mkdir(dirname(join(root, path)), { recursive: true });
      await writeFile(join(root, path), text);
    }
    return readSources(root).hash;
  };
  const files = { 'package-lock.json': '{}', 'node/a.ts': 'a', 'protocol/b.json': 'b' };
  const first = await made('one', files);
  assert.is(await made('one', files), first);
  const others = [
    await made('one', { ...files, 'node/a.ts': 'c' }),
    await made('one', { ...files, 'protocol/b.json': 'c' }),
    await made('one', { ...files, 'node/c.ts': '' }),
    await made('one', { ...files, 'package-lock.json': '{"version":2}' }),
    await made('other', files),
  ];
  assert.is(new Set([first, ...others]).size, 6);
  await cp(join(folder.path, 'other'), join(folder.path, 'copy'), { recursive: true });
  assert.not.equal(readSources(join(folder.path, 'copy')).hash, others.at(-1));
});

test.run();
