import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import { createContext, runInContext } from 'node:vm';
import { build } from 'esbuild';

/** Names under which a browser that runs headless is looked for on the PATH. */
export const BROWSERS = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];
const PROTOCOL = join(import.meta.dirname, '../../protocol');

/** What a page would write: read a bundle's text, judge it, show the verdict. Each signature is checked once a page. */
const ENTRY = `
  import { encodeBase64url, utf8 } from './bytes.ts';
  import { parseBundleText } from './verdict/parse.ts';
  import { verifyBundle } from './verdict/verify.ts';
  import { nobleSuite } from './suite/noble.ts';
  const held = new Map();
  const suite = {
    ...nobleSuite,
    verify(publicKey, message, signature, context) {
      const parts = [publicKey, signature, message, utf8(context)];
      const name = parts.map((part) => encodeBase64url(nobleSuite.sha256(part))).join();
      const holds = held.get(name) ?? nobleSuite.verify(publicKey, message, signature, context);
      held.set(name, holds);
      return holds;
    },
  };
  globalThis.verifyText = (text, pin) => {
    let bundle;
    try {
      bundle = parseBundleText(text);
    } catch (error) {
      return JSON.stringify({ word: 'unreadable' });
    }
    return JSON.stringify(verifyBundle(suite, bundle, { pin }));
  };
`;

/** The verifier as one script for a browser, and what esbuild says of its making. */
export async function bundleVerifier() {
  const { outputFiles, metafile, warnings } = await build({
    absWorkingDir: join(PROTOCOL, '..'),
    stdin: { contents: ENTRY, resolveDir: PROTOCOL, loader: 'ts' },
    bundle: true,
    platform: 'browser',
    format: 'iife',
    write: false,
    metafile: true,
    // Whatever the browser does not have is left as an import, for a test to find.
    external: ['node:*'],
    logLevel: 'silent',
  });
  return { script: outputFiles[0]?.text ?? '', metafile, warnings };
}

/** `verifyText` of the script where there is neither Node nor eval, only the language and text codecs. */
export function verifierApart(script: string): (text: string, pin: string) => string {
  const context = createContext({ TextEncoder, TextDecoder }, { codeGeneration: { strings: false, wasm: false } });
  runInContext(script, context);
  return (text, pin) => {
    const answer: unknown = runInContext(`verifyText(${JSON.stringify(text)}, ${JSON.stringify(pin)})`, context);
    if (typeof answer !== 'string') throw new TypeError('the verifier answers a text');
    return answer;
  };
}

/** Path of a browser; null where there is none. */
export function browserOnPath(): string | null {
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
