import { readdir, rm, stat, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { compile, MAIN_OUTPUT } from './compile.ts';
import { makeFolder } from './made-folder.ts';
import { readSources, ROOT } from './source-files.ts';

/** What a process of a node runs. */
export interface CompiledNode {
  readonly entry: URL;
  /** Why it is the sources themselves; null where it is not. */
  readonly fault: string | null;
}

/** Where tools keep what they can make again; `npm ci` empties it. */
const FOLDER = join(ROOT, 'node_modules/.cache/meridian');
const SOURCE_ENTRY = pathToFileURL(join(ROOT, 'node/run.ts'));
/**
 * Forms of other sources that are kept: a node that runs loads some of its files late, and may have been started from
 * one of them.
 */
const KEPT_FORMS = 20;

/**
 * The node as a few files in place of fifteen hundred modules, which load in a third of the time and take half of the
 * memory. They are made once for each state of the sources, in half a second, and taken from there afterwards. Where
 * they cannot be made, the sources themselves do the same.
 */
export async function compiledNode(folder = FOLDER): Promise<CompiledNode> {
  try {
    return { entry: pathToFileURL(join(await compiledForm(folder), MAIN_OUTPUT)), fault: null };
  } catch (error) {
    return { entry: SOURCE_ENTRY, fault: error instanceof Error ? error.message : String(error) };
  }
}

/** The folder of the form of these sources. Rejects with what esbuild or the disk says. */
async function compiledForm(folder: string): Promise<string> {
  const sources = readSources();
  const form = join(folder, sources.hash);
  if (await isThere(form)) return form;
  await makeFolder(form, (work) => compile(sources, work));
  await removeOldForms(folder);
  return form;
}

/** Also says that it is in use. */
async function isThere(form: string): Promise<boolean> {
  try {
    await stat(join(form, MAIN_OUTPUT));
  } catch {
    return false;
  }
  const now = new Date();
  // Another user's, or on a disk that is not written to, is as good.
  await utimes(form, now, now).catch(() => undefined);
  return true;
}

async function removeOldForms(folder: string): Promise<void> {
  const paths = (await readdir(folder)).map((name) => join(folder, name));
  const forms = await Promise.all(
    paths.map(async (path) => ({ path, usedAt: (await stat(path).catch(() => null))?.mtimeMs ?? 0 })),
  );
  const old = forms.sort((a, b) => b.usedAt - a.usedAt).slice(KEPT_FORMS);
  await Promise.all(old.map(({ path }) => rm(path, { recursive: true, force: true })));
}
