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

/** A page, drawn. `root`: the way up from where it stands. */
export async function pageAnswer(pages: Pick<Pages, 'files'>, page: Page, root: Root, status = 200): Promise<Answer> {
  const { draw, assets } = await pages.files();
  return { status, body: draw(page, root, assets), headers: PAGE_HEADERS };
}

/** Whether somebody who reads asks, and no program: it prefers HTML to JSON, which is what all others are given. */
export function wantsPage(context: Context): boolean {
  return context.accepts('json', 'html') === 'html';
}
