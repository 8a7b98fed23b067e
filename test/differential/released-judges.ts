import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { verifierFiles } from '../../node/pages/verifier-files.ts';
import { launchChromium } from '../browser/chromium.ts';
import { type Answer, answerOf, type Judge, UNREADABLE } from './judge.ts';
import { commandAnswersOf } from './judges.ts';

const PAGE_MS = 300_000;
/** Files that the page is given at a time. */
const FILES_AT_ONCE = 100;

/** The files of a release, each a judge: by this Node, by others that are at hand, and by a browser with no network. */
export async function releasedJudges(others: readonly string[]): Promise<readonly Judge[]> {
  const folder = await mkdtemp(join(tmpdir(), 'meridian-released-'));
  for (const { name, bytes } of await verifierFiles()) await writeFile(join(folder, name), bytes);
  const script = join(folder, 'meridian-verify.mjs');
  const judges: Judge[] = [process.execPath, ...others].map((node) => ({
    name: `meridian-verify.mjs by ${node}`,
    judge: (texts, pin) => commandAnswersOf([node, script], texts, pin),
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }),
  }));
  const page = await pageJudge(join(folder, 'meridian-verify.html'));
  return page === null ? judges : [...judges, page];
}

/** Null where there is no browser. */
async function pageJudge(file: string): Promise<Judge | null> {
  const browser = await launchChromium('meridian-verify.html was not opened in a real one');
  if (browser === null) return null;
  const context = await browser.newContext({ acceptDownloads: true, offline: true });
  const page = await context.newPage();
  const requests: string[] = [];
  const faults: string[] = [];
  page.on('request', (request) => requests.push(request.url()));
  page.on('console', (message) => message.type() === 'error' && faults.push(message.text()));
  page.on('pageerror', (error) => faults.push(String(error)));
  await page.goto(pathToFileURL(file).href);
  return {
    name: 'meridian-verify.html',
    async judge(texts, pin) {
      await page.fill('#pin', pin);
      await page.click('text=Check under this pin');
      const answers: Answer[] = [];
      for (let from = 0; from < texts.length; from += FILES_AT_ONCE) {
        const part = texts.slice(from, from + FILES_AT_ONCE);
        const files = part.map((text, i) => ({
          name: `${from + i}.json`,
          mimeType: 'application/json',
          buffer: Buffer.from(text),
        }));
        await page.setInputFiles('#files', files);
        await page.waitForSelector(`.result[aria-label="${from}.json"]`, { timeout: PAGE_MS });
        const [download] = await Promise.all([page.waitForEvent('download'), page.click('text=Save the result')]);
        const { results } = JSON.parse(await readFile(await download.path(), 'utf8'));
        for (const { verdict } of results) {
          if (verdict === undefined) answers.push(UNREADABLE);
          else {
            const { problems, linked, ...rest } = verdict;
            answers.push(answerOf(rest, problems, linked));
          }
        }
      }
      const asked = requests.filter(
        (url) => !url.startsWith('file:') && !url.startsWith('data:') && !url.startsWith('blob:'),
      );
      if (asked.length + faults.length > 0) throw new Error(`the page: ${[...asked, ...faults].join('; ')}`);
      return answers;
    },
    [Symbol.asyncDispose]: () => browser.close(),
  };
}
