import { spawn } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { createContext, runInContext } from 'node:vm';
import { build } from 'esbuild';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { TestFederation } from '../fixtures/federation.ts';

const BROWSERS = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];
const BROWSER_DEADLINE_MS = 60_000;
const PROTOCOL = join(import.meta.dirname, '../../protocol');

/** What a page would write: read a bundle's text, verify it, show the verdict. */
const ENTRY = `
  import { parseBundleText } from './bundle/bundle.ts';
  import { verifyBundle } from './bundle/verify.ts';
  import { nobleSuite } from './suite/noble.ts';
  globalThis.verifyText = (text, pin) => {
    const { verified, witnessed, checks, problems } = verifyBundle(nobleSuite, parseBundleText(text), { pin });
    return JSON.stringify({ verified, witnessed, checks, problems: problems.map(({ code }) => code) });
  };
`;

const federation = await TestFederation.create();
const bundle = (await federation.sealBatch('eu', [{}, {}, {}, {}])).bundleFor(2);
const good = JSON.stringify(bundle);
const head = bundle.record.head.replace('"kind":"decision"', '"kind":"incident"');
const bad = JSON.stringify({ ...bundle, record: { ...bundle.record, head } });
const pin = federation.chain.genesis;

const CHECKED = { leafRederived: true, payloadHashMatch: true, proofWalk: true, bundleBinding: true, sigValid: true };
const VERIFIED = { verified: true, witnessed: true, checks: CHECKED, problems: [] };

const bundled = await build({
  absWorkingDir: join(PROTOCOL, '..'),
  stdin: { contents: ENTRY, resolveDir: PROTOCOL, loader: 'ts' },
  bundle: true,
  platform: 'browser',
  format: 'iife',
  write: false,
  metafile: true,
  // Whatever the browser does not have is left as an import, and found below.
  external: ['node:*'],
  logLevel: 'silent',
});
const script = bundled.outputFiles[0]?.text ?? '';

test('the verifier bundles for a browser without a Node module in reach', () => {
  const imports = Object.entries(bundled.metafile.inputs).flatMap(([path, input]) =>
    input.imports
      .filter((found) => found.external === true || found.path.startsWith('node:'))
      .map((found) => `${path}: ${found.path}`),
  );
  assert.equal(imports, []);
  assert.equal(bundled.warnings, []);
  const own = Object.keys(bundled.metafile.inputs).filter(
    (path) => !path.includes('node_modules') && path !== '<stdin>',
  );
  assert.ok(own.length > 20);
  assert.ok(
    own.every((path) => path.startsWith('protocol/')),
    own.join(),
  );
});

test('the bundle verifies where there is neither Node nor eval, only the language and text codecs', () => {
  const context = createContext({ TextEncoder, TextDecoder }, { codeGeneration: { strings: false, wasm: false } });
  runInContext(script, context);
  const verify = (text: string) => {
    const answer: unknown = runInContext(`verifyText(${JSON.stringify(text)}, ${JSON.stringify(pin)})`, context);
    assert.type(answer, 'string');
    return JSON.parse(String(answer));
  };
  assert.equal(verify(good), VERIFIED);
  assert.equal(verify(bad), {
    verified: false,
    witnessed: false,
    checks: { ...CHECKED, proofWalk: false },
    problems: ['path-to-group', 'path-to-batch'],
  });
});

const browser = browserOnPath();
if (browser === null) {
  console.log(`SKIP: no browser on PATH (${BROWSERS.join(', ')}): the verifier was not run in a real one`);
} else {
  test('the bundle verifies in a real browser, under a policy that forbids eval', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'meridian-browser-'));
    try {
      const page = join(folder, 'page.html');
      await writeFile(page, pageOf([good, bad]));
      const shown = await dumpDom(browser, folder, pathToFileURL(page).href);
      const answers = [...shown.matchAll(/<pre>(.*?)<\/pre>/g)].map(([, answer]) => JSON.parse(answer ?? ''));
      assert.equal(answers[0], VERIFIED);
      assert.is(answers[1]?.verified, false);
      assert.equal(answers[1]?.problems, ['path-to-group', 'path-to-batch']);
    } finally {
      await rm(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
    }
  });
}

/** A page that verifies each text and shows each answer. */
function pageOf(texts: readonly string[]): string {
  const inline = (source: string) => `<script>${source.replaceAll('</script', '<\\/script')}</script>`;
  const show = `
    for (const text of ${JSON.stringify(texts).replaceAll('<', '\\u003c')}) {
      const shown = document.createElement('pre');
      try { shown.textContent = verifyText(text, ${JSON.stringify(pin)}); }
      catch (error) { shown.textContent = JSON.stringify({ thrown: String(error) }); }
      document.body.append(shown);
    }`;
  const policy = `<meta http-equiv="Content-Security-Policy" content="default-src 'none'; script-src 'unsafe-inline'">`;
  return `<!doctype html><meta charset="utf-8">${policy}<body>${inline(script)}${inline(show)}</body>`;
}

/** The document as the browser has it after its scripts have run. */
async function dumpDom(binary: string, folder: string, url: string): Promise<string> {
  const flags = [
    '--headless=new',
    '--no-sandbox',
    '--disable-gpu',
    '--disable-dev-shm-usage',
    '--disable-background-networking',
    '--disable-component-update',
    '--disable-crash-reporter',
    '--no-first-run',
    `--user-data-dir=${join(folder, 'profile')}`,
    '--dump-dom',
    url,
  ];
  const child = spawn(binary, flags, {
    stdio: ['ignore', 'pipe', 'ignore'],
    signal: AbortSignal.timeout(BROWSER_DEADLINE_MS),
    killSignal: 'SIGKILL',
  });
  child.stdout.setEncoding('utf8');
  let shown = '';
  for await (const chunk of child.stdout) shown += String(chunk);
  return shown;
}

function browserOnPath(): string | null {
  for (const folder of (process.env['PATH'] ?? '').split(delimiter)) {
    for (const name of BROWSERS) {
      try {
        accessSync(join(folder, name), constants.X_OK);
        return join(folder, name);
      } catch {
        // Not in this folder.
      }
    }
  }
  return null;
}

test.run();
