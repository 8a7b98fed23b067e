import { renderToString } from 'preact-render-to-string';
import type { Assets, Page, Root } from '../page.ts';
import { AgentView, WalletView } from './agent.tsx';
import { ConsoleView } from './console/console.tsx';
import { CheckView } from './check.tsx';
import { Docs } from './docs.tsx';
import { Front } from './front.tsx';
import { Layout } from './layout.tsx';
import { LogView } from './log.tsx';
import { Missing, ProblemView } from './problem.tsx';
import { RecordView } from './record.tsx';

/** A page as HTML: whole without a script. */
export function draw(page: Page, root: Root, { style, scripts }: Assets): string {
  const { title, listed, body } = partsOf(page, root);
  return `<!doctype html>${renderToString(
    <Layout title={title} root={root} style={style} script={scripts[page.name]} listed={listed}>
      {body}
    </Layout>,
  )}`;
}

function partsOf(page: Page, root: Root) {
  switch (page.name) {
    case 'front':
      return { title: `Node ${page.node}`, listed: true, body: <Front page={page} root={root} /> };
    case 'record':
      return { title: `Record ${page.id}`, listed: false, body: <RecordView page={page} root={root} /> };
    case 'check':
      return { title: 'Check a file', listed: true, body: <CheckView page={page} root={root} /> };
    case 'console':
      return { title: page.title, listed: false, body: <ConsoleView page={page} root={root} /> };
    case 'problem':
      return { title: page.title, listed: true, body: <ProblemView page={page} root={root} /> };
    case 'missing':
      return { title: 'Not found', listed: false, body: <Missing page={page} root={root} /> };
    case 'log':
      return { title: 'The log', listed: true, body: <LogView page={page} root={root} /> };
    case 'docs':
      return { title: 'Reference of the API', listed: true, body: <Docs page={page} root={root} /> };
    case 'agent':
      return { title: `Agent ${page.agentId}`, listed: false, body: <AgentView page={page} root={root} /> };
    case 'wallet':
      return { title: `Wallet ${page.address}`, listed: false, body: <WalletView page={page} /> };
  }
}
