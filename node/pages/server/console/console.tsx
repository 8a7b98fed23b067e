import { type ConsolePage, SCREENS, type Section } from '../../console-page.ts';
import type { Root } from '../../page.ts';
import { Code, Foreign, Moment } from '../foreign.tsx';
import { BoardView } from './board.tsx';
import { ChartView } from './chart.tsx';
import { StripView } from './strip.tsx';
import { FormView } from './form.tsx';
import { FactsView, LinksView, QrView, TableView, TextView } from './sections.tsx';

/** A screen of the console: who is signed in, where they can go, and what the screen shows. */
export function ConsoleView({ page, root }: { readonly page: ConsolePage; readonly root: Root }) {
  const { title, node, signedIn, sections } = page;
  return (
    <>
      <p class="node">
        Console of node <Foreign text={node} />
      </p>
      {signedIn === null ? null : <Navigation signedIn={signedIn} root={root} />}
      <h1>
        <Foreign text={title} />
      </h1>
      {sections.map((section, i) => (
        <SectionView key={i} section={section} root={root} token={signedIn?.token ?? null} id={`s${i}`} />
      ))}
    </>
  );
}

function Navigation({
  signedIn,
  root,
}: {
  readonly signedIn: NonNullable<ConsolePage['signedIn']>;
  readonly root: Root;
}) {
  const { account, key, until, token, screen } = signedIn;
  return (
    <>
      <nav aria-label="Console" class="console">
        <ul>
          {SCREENS.map(([path, name]) => (
            <li key={path}>
              <a
                href={`${root}console${path === '' ? '' : `/${path}`}`}
                {...(screen === path ? { 'aria-current': 'page' as const } : {})}
              >
                {name}
              </a>
            </li>
          ))}
        </ul>
      </nav>
      <form method="post" action={`${root}console/sign-out`} class="who">
        <span>
          <Code text={account} /> by <Code text={key} />, until <Moment at={until} />
        </span>
        <input type="hidden" name="token" value={token} />
        <a href={`${root}console/second-factor`}>Second factor</a>
        <button type="submit">Sign out</button>
      </form>
    </>
  );
}

export interface SectionProps<Kind extends Section> {
  readonly section: Kind;
  readonly root: Root;
  readonly token: string | null;
  readonly id: string;
}

function SectionView(props: SectionProps<Section>) {
  const { section } = props;
  switch (section.kind) {
    case 'table':
      return <TableView {...props} section={section} />;
    case 'facts':
      return <FactsView {...props} section={section} />;
    case 'form':
      return <FormView {...props} section={section} />;
    case 'text':
      return <TextView {...props} section={section} />;
    case 'links':
      return <LinksView {...props} section={section} />;
    case 'qr':
      return <QrView {...props} section={section} />;
    case 'board':
      return <BoardView {...props} section={section} />;
    case 'strip':
      return <StripView {...props} section={section} />;
    case 'chart':
      return <ChartView {...props} section={section} />;
  }
}
