import type { Context } from 'koa';
import type { Page, Root } from '../../pages/page.ts';
import type { Pages } from '../../pages/pages.ts';
import type { Answer } from '../route.ts';

/**
 * Nothing from elsewhere, no inline script or style, no text that becomes a script: a page shows what strangers wrote.
 */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ');

export const PAGE_HEADERS = {
  'Content-Type': 'text/html; charset=utf-8',
  'Content-Security-Policy': POLICY,
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Permissions-Policy': 'camera=(), geolocation=(), microphone=()',
  'Referrer-Policy': 'no-referrer',
  'X-Frame-Options': 'DENY',
};

interface PageTerms {
  /** Default 200. */
  readonly status?: number;
  /** Default: those of a page that anybody may see. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** A page, drawn. `root`: the way up from where it stands. */
export async function pageAnswer(
  pages: Pick<Pages, 'files'>,
  page: Page,
  root: Root,
  { status = 200, headers = PAGE_HEADERS }: PageTerms = {},
): Promise<Answer> {
  const { draw, assets } = await pages.files();
  return { status, body: draw(page, root, assets), headers };
}

/**
 * Of the console: its forms say where they come from, which under `no-referrer` they would not (`Origin: null`), and
 * nothing that is shown after a sign-in is kept anywhere.
 */
export const CONSOLE_HEADERS = { ...PAGE_HEADERS, 'Referrer-Policy': 'same-origin', 'Cache-Control': 'no-store' };

/** Whether somebody who reads asks, and no program: it prefers HTML to JSON, which is what all others are given. */
export function wantsPage(context: Context): boolean {
  return context.accepts('json', 'html') === 'html';
}
