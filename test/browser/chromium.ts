import type { Browser, Page } from 'playwright-core';
import { BROWSERS, browserOnPath } from './verifier-bundle.ts';

const LAUNCH_MS = 60_000;

/** A browser for tests, and what a page of it may not do: none where none is installed, which is said loudly. */
export async function launchChromium(what: string): Promise<Browser | null> {
  const executablePath = browserOnPath();
  if (executablePath === null) {
    console.log(`SKIP: no browser on PATH (${BROWSERS.join(', ')}): ${what}`);
    return null;
  }
  const { chromium } = await import('playwright-core');
  const args = ['--no-sandbox', '--disable-dev-shm-usage', '--disable-gpu'];
  return chromium.launch({ executablePath, args, timeout: LAUNCH_MS });
}

/** What went wrong on a page since it was watched. */
export interface Watched {
  /** Violations of its policy, uncaught errors and errors on its console. */
  readonly faults: readonly string[];
  /** Addresses that it asked for. */
  readonly requests: readonly string[];
}

/** Watches a page from before its first request on. */
export async function watch(page: Page): Promise<Watched> {
  const faults: string[] = [];
  const requests: string[] = [];
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') faults.push(message.text());
  });
  page.on('pageerror', (error) => faults.push(String(error)));
  page.on('request', (request) => requests.push(request.url()));
  await page.addInitScript(() => {
    document.addEventListener('securitypolicyviolation', ({ violatedDirective, blockedURI, sourceFile }) => {
      console.error(`policy: ${violatedDirective} ${blockedURI} ${sourceFile}`);
    });
  });
  return { faults, requests };
}
