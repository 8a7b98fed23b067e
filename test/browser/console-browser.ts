import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import * as assert from 'uvu/assert';
import { parseJson } from '../../protocol/json/parse.ts';
import { isJsonArray, isJsonObject, type JsonValue } from '../../protocol/json/value.ts';
import { type Watched, watch } from './chromium.ts';

const MAX_DEPTH = 64;
/** As a browser says it of an address that a person typed. */
const FROM_HERE = { headers: { 'sec-fetch-site': 'none' } };

/** Somebody at a console of their own browser. */
export class ConsoleBrowser implements AsyncDisposable {
  readonly page: Page;
  readonly seen: Watched;
  readonly #baseUrl: string;

  private constructor(page: Page, seen: Watched, baseUrl: string) {
    this.page = page;
    this.seen = seen;
    this.#baseUrl = baseUrl;
  }

  /** Whoever signs in by a key. */
  static async byKey(
    browser: Browser,
    baseUrl: string,
    key: string,
    options: BrowserContextOptions = {},
  ): Promise<ConsoleBrowser> {
    const opened = await ConsoleBrowser.#open(browser, baseUrl, options);
    const { page } = opened;
    await page.goto(`${baseUrl}/console`);
    await page.getByLabel('API key (required)').fill(key);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.waitForURL(/\/console$/);
    return opened;
  }

  /** Whoever signs in by a link that was mailed to them. */
  static async byLink(browser: Browser, baseUrl: string, link: string): Promise<ConsoleBrowser> {
    const opened = await ConsoleBrowser.#open(browser, baseUrl, {});
    await opened.page.goto(link);
    await opened.page.getByRole('button', { name: 'Sign in' }).click();
    await opened.page.waitForURL(/\/console$/);
    return opened;
  }

  static async #open(browser: Browser, baseUrl: string, options: BrowserContextOptions): Promise<ConsoleBrowser> {
    const context = await browser.newContext(options);
    const page = await context.newPage();
    return new ConsoleBrowser(page, await watch(page), baseUrl);
  }

  /** Opens a screen, by its path below `/console`; what it says. */
  async open(path: string): Promise<string> {
    await this.page.goto(`${this.#baseUrl}/console${path}`);
    return this.text();
  }

  text(): Promise<string> {
    return this.page.locator('main').innerText();
  }

  /** Fills in a form and sends it. */
  async send(form: string, fields: Readonly<Record<string, string>>): Promise<string> {
    await this.open(`/forms/${form}`);
    await this.fillIn(fields);
    await this.page.locator('form.fields button').click();
    await this.page.waitForSelector('[role=status], [role=alert]');
    return this.text();
  }

  /** A form that is taken; what its page says. */
  async done(form: string, fields: Readonly<Record<string, string>>): Promise<string> {
    const text = await this.send(form, fields);
    assert.match(text, /● Done\./, text);
    return text;
  }

  async fillIn(fields: Readonly<Record<string, string>>): Promise<void> {
    for (const [name, value] of Object.entries(fields)) {
      const control = this.page.locator(`form.fields [name="${name}"]`);
      const tag = await control.evaluate((element) => element.tagName);
      if (tag === 'SELECT') await control.selectOption(value);
      else await control.fill(value);
    }
  }

  /** Holds every figure of the page against the API’s answer to the same person; how many there are. */
  async requireFigures(): Promise<number> {
    let count = 0;
    for (const { json, member, row, field, value } of await this.page.evaluate(figuresOfPage)) {
      // What is counted by the minute has gone on since.
      if (json.startsWith('/v1/usage') || json.startsWith('/v1/audit-log')) continue;
      const text = await (await this.page.request.get(this.#baseUrl + json, FROM_HERE)).text();
      const path = [...pathParts(member), ...row, ...pathParts(field)];
      assert.is(String(valueAt(parseJson(text, { maxDepth: MAX_DEPTH }), path)), value, `${json} ${field}`);
      count++;
    }
    return count;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.page.context().close();
  }
}

/** The first id of a kind in what a page says. */
export function idIn(text: string, prefix: string): string {
  return new RegExp(`${prefix}_eu_\\w+`).exec(text)?.[0] ?? '';
}

interface Figure {
  readonly json: string;
  readonly member: string;
  readonly row: readonly number[];
  readonly field: string;
  readonly value: string;
}

/** In the page: each figure, and where in which answer it stands. */
function figuresOfPage(): Figure[] {
  return [...document.querySelectorAll<HTMLDataElement>('data[data-field]')].flatMap((figure) => {
    const list = figure.closest<HTMLElement>('[data-json]');
    if (list === null) return [];
    const line = figure.closest('tr');
    const row = line === null ? [] : [[...(line.parentElement?.children ?? [])].indexOf(line)];
    const { json = '', member = '' } = list.dataset;
    return [{ json, member, row, field: figure.dataset.field ?? '', value: figure.value }];
  });
}

function pathParts(path: string): readonly string[] {
  return path === '' ? [] : path.split('.');
}

function valueAt(answer: JsonValue, path: readonly (number | string)[]): JsonValue | undefined {
  let value: JsonValue | undefined = answer;
  for (const part of path) {
    if (value === undefined) return undefined;
    if (isJsonArray(value)) value = value[Number(part)];
    else value = isJsonObject(value) ? value[String(part)] : undefined;
  }
  return value;
}
