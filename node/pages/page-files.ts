import { createHash } from 'node:crypto';
import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { basename, join, relative } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Metafile } from 'esbuild';
import { Semaphore } from '../concurrency/semaphore.ts';
import { type Build, withEsbuild, withoutEvaluation } from '../compiled/esbuild.ts';
import { makeFolder } from '../compiled/made-folder.ts';
import type { Assets, Draw, Page } from './page.ts';

const SOURCES = import.meta.dirname;
const ROOT = join(SOURCES, '../..');
const PROTOCOL = join(ROOT, 'protocol');
/** What is made from the sources, besides the files that browsers load. */
const MANIFEST = 'manifest.json';
const DRAWING = 'draw.mjs';
const BROWSER_TARGET = 'es2023';
/** One at a time in a process: a second one finds what the first made. */
const MAKING = new Semaphore({ places: 1 });

const STYLE = 'style.css';
/** Pages with a script of their own, and where it begins. */
const SCRIPTS: Readonly<Partial<Record<Page['name'], string>>> = {
  record: 'browser/record.tsx',
  check: 'browser/check.tsx',
  docs: 'browser/docs.ts',
  console: 'browser/console.ts',
};

/** Drawn pages and the files that they load, ready to be served. */
export interface PageFiles {
  readonly draw: Draw;
  readonly assets: Assets;
  /** Of each file that a browser loads, by name. */
  readonly files: ReadonlyMap<string, { readonly bytes: Uint8Array; readonly type: string }>;
}

interface Manifest {
  readonly assets: Assets;
  readonly files: Readonly<Record<string, string>>;
}

/**
 * The files of the pages, made once in `folder` for each state of the sources, and taken from there afterwards. What
 * was made from other sources is taken away. Rejects with what esbuild or the disk says.
 */
export async function pageFiles(folder: string): Promise<PageFiles> {
  const made = join(folder, await hashOfSources());
  using _alone = await MAKING.enter();
  const known = await readMade(made);
  if (known !== null) return known;
  await makeFolder(made, make);
  await removeOthers(folder, made);
  const files = await readMade(made);
  if (files === null) throw new Error(`${made} is not there after it was made`);
  return files;
}

/** Of all that can change what is made: the pages, the protocol that they run, and the versions of packages. */
async function hashOfSources(): Promise<string> {
  const hash = createHash('sha256');
  const paths = [join(ROOT, 'package.json')];
  for (const top of [SOURCES, PROTOCOL]) {
    for (const entry of await readdir(top, { recursive: true, withFileTypes: true })) {
      if (entry.isFile()) paths.push(join(entry.parentPath, entry.name));
    }
  }
  for (const path of paths.sort()) {
    const bytes = await readFile(path);
    hash.update(`${relative(ROOT, path)} ${bytes.length}\n`).update(bytes);
  }
  return hash.digest('hex').slice(0, 32);
}

/** Null where nothing was made from these sources yet. */
async function readMade(made: string): Promise<PageFiles | null> {
  let text: string;
  try {
    text = await readFile(join(made, MANIFEST), 'utf8');
  } catch {
    return null;
  }
  const { assets, files }: Manifest = JSON.parse(text);
  const drawing: { readonly draw: Draw } = await import(pathToFileURL(join(made, DRAWING)).href);
  const served = await Promise.all(
    Object.entries(files).map(
      async ([name, type]) => [name, { bytes: await readFile(join(made, name)), type }] as const,
    ),
  );
  return { draw: drawing.draw, assets, files: new Map(served) };
}

async function make(work: string): Promise<void> {
  const metafile = await withEsbuild((build) => buildInto(work, build));
  await writeFile(join(work, MANIFEST), JSON.stringify(manifestOf(metafile)));
}

/** What became of which source. */
async function buildInto(work: string, build: Build): Promise<Metafile> {
  const shared = { absWorkingDir: ROOT, bundle: true, outdir: work, logLevel: 'silent', charset: 'utf8' } as const;
  const jsx = { jsx: 'automatic', jsxImportSource: 'preact' } as const;
  const [, { metafile }] = await Promise.all([
    build({
      ...shared,
      ...jsx,
      entryPoints: [{ in: join(SOURCES, 'server/draw.tsx'), out: DRAWING.replace(/\.mjs$/, '') }],
      outExtension: { '.js': '.mjs' },
      platform: 'node',
      format: 'esm',
    }),
    build({
      ...shared,
      ...jsx,
      entryPoints: [STYLE, ...Object.values(SCRIPTS)].map((path) => join(SOURCES, path)),
      entryNames: '[name].[hash]',
      chunkNames: '[name].[hash]',
      splitting: true,
      platform: 'browser',
      format: 'esm',
      target: BROWSER_TARGET,
      minify: true,
      metafile: true,
      plugins: [withoutEvaluation],
    }),
  ]);
  return metafile;
}

/** The files that a browser loads, and which of them each page begins with. */
function manifestOf({ outputs }: Metafile): Manifest {
  const names = Object.entries(outputs).map(([path, { entryPoint }]) => ({ file: basename(path), entryPoint }));
  const madeOf = (source: string): string => {
    const entry = relative(ROOT, join(SOURCES, source));
    const found = names.find(({ entryPoint }) => entryPoint === entry);
    if (found === undefined) throw new Error(`nothing was made of ${entry}`);
    return found.file;
  };
  return {
    assets: {
      style: madeOf(STYLE),
      scripts: Object.fromEntries(Object.entries(SCRIPTS).map(([name, source]) => [name, madeOf(source)])),
    },
    files: Object.fromEntries(
      names.map(({ file }) => [file, `text/${file.endsWith('.css') ? 'css' : 'javascript'}; charset=utf-8`]),
    ),
  };
}

async function removeOthers(folder: string, made: string): Promise<void> {
  for (const name of await readdir(folder)) {
    const path = join(folder, name);
    if (path !== made) await rm(path, { recursive: true, force: true });
  }
}
