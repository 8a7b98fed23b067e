// A thread that checks pages of chains, one an order. What it throws ends it, and fails the page under work alone.
import { parentPort } from 'node:worker_threads';
import { givenGroups, packGroups, unpackBytes } from './packed-page.ts';
import { checkPage } from './page-check.ts';
import type { PageOrder } from './page-checks.ts';

parentPort?.on('message', (page: PageOrder) => {
  const groups = packGroups(checkPage(unpackBytes(page)));
  parentPort?.postMessage(groups, givenGroups(groups));
});
