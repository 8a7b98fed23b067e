import { createHash } from 'node:crypto';
import { join } from 'node:path';
import type { BuildOptions } from 'esbuild';
import { type Build, withEsbuild, withoutEvaluation } from '../compiled/esbuild.ts';

const ROOT = join(import.meta.dirname, '../..');
const SCRIPT_END = /<\/(script)/gi;
const SHARED = {
  absWorkingDir: ROOT,
  bundle: true,
  write: false,
  logLevel: 'silent',
  charset: 'ascii',
  minify: true,
} as const;

/** A file of a release. */
export interface ReleaseFile {
  readonly name: string;
  readonly bytes: Uint8Array;
  /** In hex digits. */
  readonly sha256: string;
}

/**
 * The verifier in one file each, for a browser and for Node: byte for byte the same from the same sources, wherever and
 * whenever they are made.
 */
export async function verifierFiles(): Promise<readonly ReleaseFile[]> {
  return withEsbuild(async (build) => [
    released('meridian-verify.html', await verifierPage(build)),
    released('meridian-verify.mjs', await verifierScript(build)),
  ]);
}

/** Whole in itself: nothing is loaded, and the policy lets nothing be. */
async function verifierPage(build: Build): Promise<string> {
  const [script, style] = await Promise.all([
    builtText(build, {
      entryPoints: ['node/pages/browser/check.tsx'],
      platform: 'browser',
      format: 'iife',
      target: 'es2023',
      jsx: 'automatic',
      jsxImportSource: 'preact',
      plugins: [withoutEvaluation],
    }),
    builtText(build, { entryPoints: ['node/pages/style.css'] }),
  ]);
  const inline = script.replaceAll(SCRIPT_END, '<\\/$1');
  const policy = [
    "default-src 'none'",
    `script-src '${digestOf(inline)}'`,
    `style-src '${digestOf(style)}'`,
    'img-src data:',
    "base-uri 'none'",
    "form-action 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join('; ');
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Check a file of Meridian</title>
<link rel="icon" href="data:,">
<style>${style}</style>
</head>
<body>
<main id="main">
<h1>Check a file on your own machine</h1>
<p class="lead">A bundle, a public proof, a pack of evidence (the ZIP as it is), a proof of misbehaviour, a list of rosters, or an export
of a key-use log. This page
is one file: it loads nothing, sends nothing, and works with the network off.</p>
<div id="check"><p>Your browser runs no script here. meridian-verify.mjs does the same on the command line.</p></div>
</main>
<footer><p>What it shows is that something was recorded, when and by whom; never that a law is complied with.</p></footer>
<script>${inline}</script>
</body>
</html>
`;
}

async function verifierScript(build: Build): Promise<string> {
  const script = await builtText(build, {
    entryPoints: ['scripts/release/verify-anywhere.ts'],
    inject: [join(ROOT, 'scripts/release/node-20.ts')],
    platform: 'node',
    format: 'esm',
    target: 'node20',
  });
  return `#!/usr/bin/env node\n${script}`;
}

type BuildTerms = Omit<BuildOptions, keyof typeof SHARED>;

async function builtText(build: Build, terms: BuildTerms): Promise<string> {
  const { outputFiles = [] } = await build({ ...terms, ...SHARED });
  const [file] = outputFiles;
  if (file === undefined) throw new Error('esbuild made nothing');
  return file.text.trim();
}

/** As a policy names an inline part (CSP 3 §2.3.1). */
function digestOf(text: string): string {
  return `sha256-${createHash('sha256').update(text).digest('base64')}`;
}

function released(name: string, text: string): ReleaseFile {
  const bytes = Buffer.from(text);
  return { name, bytes, sha256: createHash('sha256').update(bytes).digest('hex') };
}
