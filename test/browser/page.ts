import { spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

/** A page that judges each text by a script that defines `verifyText`, and shows each answer. */
export interface VerifierPage {
  readonly script: string;
  /** Texts of bundles, each with its pin. */
  readonly texts: readonly (readonly [text: string, pin: string])[];
}

/**
 * Runs the page in a real browser under a policy that forbids eval. Resolves to the answers in order; rejects on a
 * deadline.
 */
export async function answersOfPage(browser: string, page: VerifierPage, deadlineMs: number): Promise<string[]> {
  const folder = await mkdtemp(join(tmpdir(), 'meridian-browser-'));
  try {
    const file = join(folder, 'page.html');
    await writeFile(file, htmlOf(page));
    const shown = await dumpDom(browser, folder, pathToFileURL(file).href, deadlineMs);
    return [...shown.matchAll(/<pre>(.*?)<\/pre>/g)].map(([, answer]) =>
      Buffer.from(answer ?? '', 'base64').toString(),
    );
  } finally {
    await rm(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
  }
}

/** An answer is shown as base64 of its UTF-8, so that no page markup is in it. */
function htmlOf({ script, texts }: VerifierPage): string {
  const inline = (source: string) => `<script>${source.replaceAll('</script', '<\\/script')}</script>`;
  const show = `
    const texts = JSON.parse(document.getElementById('texts').textContent);
    for (const [text, pin] of texts) {
      const shown = document.createElement('pre');
      let answer;
      try { answer = verifyText(text, pin); } catch (error) { answer = JSON.stringify({ thrown: String(error) }); }
      shown.textContent = btoa(String.fromCharCode(...new TextEncoder().encode(answer)));
      document.body.append(shown);
    }
    // What is left is shown as text: the answers alone.
    for (const script of [...document.scripts]) script.remove();`;
  const policy = `<meta http-equiv="Content-Security-Policy" content="default-src 'none'; script-src 'unsafe-inline'">`;
  const json = JSON.stringify(texts).replaceAll('<', '\\u003c');
  const data = `<script id="texts" type="application/json">${json}</script>`;
  return `<!doctype html><meta charset="utf-8">${policy}<body>${data}${inline(script)}${inline(show)}</body>`;
}

/** The document as the browser has it after its scripts have run. */
async function dumpDom(binary: string, folder: string, url: string, deadlineMs: number): Promise<string> {
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
    signal: AbortSignal.timeout(deadlineMs),
    killSignal: 'SIGKILL',
  });
  child.stdout.setEncoding('utf8');
  let shown = '';
  for await (const chunk of child.stdout) shown += String(chunk);
  return shown;
}
