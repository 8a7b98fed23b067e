import { basename, dirname, join, relative } from 'node:path';
import type { Plugin } from 'esbuild';
import { withEsbuild } from './esbuild.ts';
import { ROOT, type Sources } from './source-files.ts';

const MAIN = 'node/run.ts';
/** What the compiled node begins with. */
export const MAIN_OUTPUT = 'run.mjs';
/** A script that a file names beside itself: of a thread, or what one loads first. */
const SCRIPT = /new URL\('\.\/([\w-]+)\.ts', import\.meta\.url\)/g;
const OWN_FOLDER = /\bimport\.meta\.dirname\b/g;
/** Packages of hundreds of small modules; all others are loaded as they are. */
const COMPILED_PACKAGES = ['typebox'];

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
      logLevel: 'silent',
      plugins: [packagesAsTheyAre, ownPlaces(texts)],
    }),
  );
}

const packagesAsTheyAre: Plugin = {
  name: 'packages-as-they-are',
  setup({ onResolve }) {
    onResolve({ filter: /^[^./]/ }, ({ path, kind }) => {
      const isCompiled = COMPILED_PACKAGES.some((name) => path === name || path.startsWith(`${name}/`));
      return kind === 'entry-point' || isCompiled ? undefined : { path, external: true };
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
