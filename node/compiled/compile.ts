import { readFile } from 'node:fs/promises';
import { basename, dirname, join, relative } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Plugin } from 'esbuild';
import { withEsbuild } from './esbuild.ts';
import { ROOT, type Sources } from './source-files.ts';

const MAIN = 'node/run.ts';
/** What the compiled node begins with. */
export const MAIN_OUTPUT = 'run.mjs';
/** A script that a file names beside itself: of a thread, or what one loads first. */
const SCRIPT = /new URL\('\.\/([\w-]+)\.ts', import\.meta\.url\)/g;
const OWN_FOLDER = /\bimport\.meta\.dirname\b/g;
/**
 * One is hundreds of small modules, the other brings a part that is left out. With the packages that they use; all
 * others are loaded as they are.
 */
const COMPILED_PACKAGES = ['typebox', 'pdfkit'];
const OWN_URL = /\bimport\.meta\.url\b/g;
/** Lines are broken after about so many: what a stack names by line and column is found in them. */
const LINE_CHARACTERS = 160;
/** What the reader of font files is, in whose place nothing is loaded: it would be two fifths of a thread's memory. */
const NO_FONT_READER = "export const create = () => { throw new Error('a document has standard fonts alone'); };\n";

/** Makes the node and the scripts of its threads into a few files of `folder`. Rejects with what esbuild says. */
export async function compile({ texts }: Sources, folder: string): Promise<void> {
  const scripts = [...texts].flatMap(([path, text]) =>
    [...text.matchAll(SCRIPT)].map(([, name]) => join(dirname(path), `${name}.ts`)),
  );
  await withEsbuild((build) =>
    build({
      absWorkingDir: ROOT,
      entryPoints: [MAIN, ...new Set(scripts)],
      outdir: folder,
      // All in one folder, so that a script lies beside whatever names it.
      entryNames: '[name]',
      chunkNames: '[name]-[hash]',
      outExtension: { '.js': '.mjs' },
      bundle: true,
      splitting: true,
      format: 'esm',
      platform: 'node',
      target: 'esnext',
      // A text with any character beyond ASCII takes two bytes of memory for each: comments hold some, strings are
      // escaped, and expressions are written so in the sources.
      charset: 'ascii',
      minifyWhitespace: true,
      lineLimit: LINE_CHARACTERS,
      logLevel: 'silent',
      plugins: [packages(texts), standardFonts, ownPlaces(texts)],
    }),
  );
}

function packages(texts: Sources['texts']): Plugin {
  return {
    name: 'packages',
    setup({ onResolve }) {
      onResolve({ filter: /^[^./]/ }, ({ path, kind, importer }) => {
        // What a package uses is found from where it is, which the compiled form is not.
        const isAskedBySource = texts.has(relative(ROOT, importer));
        const isCompiled = COMPILED_PACKAGES.some((name) => path === name || path.startsWith(`${name}/`));
        return kind === 'entry-point' || !isAskedBySource || isCompiled ? undefined : { path, external: true };
      });
    },
  };
}

/** Documents are drawn without a reader of font files; their own fonts lie beside the library, which asks for its place. */
const standardFonts: Plugin = {
  name: 'standard-fonts',
  setup({ onLoad }) {
    onLoad({ filter: /[\\/]fontkit[\\/]dist[\\/]/ }, () => ({ contents: NO_FONT_READER }));
    onLoad({ filter: /[\\/]pdfkit[\\/]js[\\/]pdfkit\.node\.mjs$/ }, async ({ path }) => {
      const text = await readFile(path, 'utf8');
      return { contents: text.replace(OWN_URL, () => JSON.stringify(pathToFileURL(path).href)) };
    });
  },
};

/** Where a file asks for its place, the place of the source is meant, or the script beside it in its compiled form. */
function ownPlaces(texts: Sources['texts']): Plugin {
  return {
    name: 'own-places',
    setup({ onLoad }) {
      onLoad({ filter: /\.ts$/ }, ({ path }) => {
        const text = texts.get(relative(ROOT, path));
        if (text === undefined) throw new Error(`${basename(path)} is not of the node`);
        const contents = text
          .replace(SCRIPT, "new URL('./$1.mjs', import.meta.url)")
          .replace(OWN_FOLDER, () => JSON.stringify(dirname(path)));
        return { contents, loader: 'ts' };
      });
    },
  };
}
