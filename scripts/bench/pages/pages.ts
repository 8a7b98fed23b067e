import { existsSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { chromium } from 'playwright-core';
import { fillCluster } from '../federation/filled-cluster.ts';
import type { Part, Result } from '../part.ts';
import { processorTime } from '../processor-time.ts';
import { median } from '../statistics.ts';
import { count, milliseconds, ratio } from '../table.ts';

const FULL = { records: 200, rounds: 50, checks: 20 };
const QUICK = { records: 20, rounds: 5, checks: 3 };
/** Where Debian has it. */
const CHROMIUM = '/usr/bin/chromium';
const FILE = /(?:src|href)="(?:\.\.?\/)+(pages\/[^"]+)"/g;
const CHECKED_IN = /Checked in (\d+) ms/;
const CHECKED_BY = /Signatures checked by (\w+)/;
const PAGE_MS = 30_000;

/** What pages cost a node, how much of them comes first, and how soon a browser has checked a record. */
export const pages: Part = {
  name: 'pages',
  title: 'Pages: processor of the node, bytes of the first view, the check in a browser',
  async run(options): Promise<Result> {
    const { records, rounds, checks } = options.quick ? QUICK : FULL;
    await using filled = await fillCluster(options.home, records, options);
    const { baseUrl } = filled.cluster.node(0);
    const pid = filled.cluster.file.nodes[0]?.pid ?? 0;
    const ids = filled.ids;
    // With a key no limit of an address counts, which a visitor does not reach.
    const headers = { 'x-api-key': filled.cluster.apiKey };
    const view = async (url: string): Promise<string> => {
      const answer = await fetch(url, { headers });
      if (!answer.ok) throw new Error(`${url} answers ${answer.status}`);
      return answer.text();
    };
    const paths = ['/', '/log', '/docs', '/check', '/v/:id', '/v1/verify/:id'];
    const rows = [];
    for (const path of paths) {
      const costs: number[] = [];
      for (let round = 0; round < rounds; round++) {
        options.signal.throwIfAborted();
        const before = await processorTime(pid);
        await view(baseUrl + path.replace(':id', ids[round % ids.length] ?? ''));
        costs.push(((await processorTime(pid)).all - before.all) / 1_000);
      }
      rows.push({ path, cost: median(costs), ...(await firstView(view, baseUrl + path.replace(':id', ids[0] ?? ''))) });
      options.say(`${path}: ${milliseconds(median(costs))}`);
    }
    const inBrowser = existsSync(CHROMIUM) ? await checksIn(`${baseUrl}/v/`, ids.slice(0, checks), headers) : null;
    const verify = rows.at(-1)?.cost ?? 0;
    return {
      table: [
        ['page', 'processor of the node', 'of a verdict as JSON', 'first view, gzip', 'files'],
        ...rows.map(({ path, cost, bytes, files }) => [
          path,
          milliseconds(cost),
          ratio(cost / verify),
          `${count(bytes / 1_000)} kB`,
          count(files),
        ]),
      ],
      notes: [
        `Medians of ${rounds} requests one after another, with all that the node did meanwhile. First view: the page with`,
        'the files that it names, each compressed alone; what checks a record comes after them.',
        inBrowser === null
          ? `No browser at ${CHROMIUM}: how soon one has checked a record was not measured.`
          : `A browser checks a record in ${count(inBrowser.milliseconds)} ms by ${inBrowser.checkedBy}: median of ${checks}.`,
      ],
    };
  },
};

async function firstView(
  view: (url: string) => Promise<string>,
  url: string,
): Promise<{ readonly bytes: number; readonly files: number }> {
  const html = await view(url);
  const files = [...html.matchAll(FILE)].map(([, path = '']) => path);
  const root = new URL(url).origin;
  const texts = await Promise.all(files.map((path) => view(`${root}/${path}`)));
  return { bytes: [html, ...texts].reduce((sum, text) => sum + gzipSync(text).length, 0), files: files.length };
}

/** As the page itself says: from the proof's text to the verdict. */
async function checksIn(
  page: string,
  ids: readonly string[],
  headers: Readonly<Record<string, string>>,
): Promise<{ readonly milliseconds: number; readonly checkedBy: string }> {
  const browser = await chromium.launch({ executablePath: CHROMIUM, args: ['--no-sandbox'] });
  try {
    const tab = await browser.newPage({ extraHTTPHeaders: headers });
    const times: number[] = [];
    let checkedBy = '';
    for (const id of ids) {
      await tab.goto(page + id);
      const shown = tab.getByText(CHECKED_IN);
      await shown.waitFor({ timeout: PAGE_MS });
      const [, time = ''] = CHECKED_IN.exec(await shown.innerText()) ?? [];
      times.push(Number(time));
      [, checkedBy = ''] = CHECKED_BY.exec(await tab.locator('#own-check').innerText()) ?? [];
    }
    return { milliseconds: median(times), checkedBy };
  } finally {
    await browser.close();
  }
}
