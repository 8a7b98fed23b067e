import type { ComponentChildren } from 'preact';
import type { Root } from '../page.ts';

interface LayoutProps {
  readonly title: string;
  readonly root: Root;
  readonly style: string;
  readonly script: string | undefined;
  /** Whether search engines may list it. */
  readonly listed?: boolean;
  readonly children: ComponentChildren;
}

const LINKS = [
  ['', 'This node'],
  ['check', 'Check a file'],
  ['log', 'The log'],
  ['docs', 'API'],
  ['console', 'Console'],
] as const;

/** What every page has around its own part. */
export function Layout({ title, root, style, script, listed = false, children }: LayoutProps) {
  return (
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        {listed ? null : <meta name="robots" content="noindex" />}
        <title>{`${title} · Meridian`}</title>
        <link rel="icon" href="data:," />
        <link rel="stylesheet" href={`${root}pages/${style}`} />
        {script === undefined ? null : <script type="module" src={`${root}pages/${script}`} />}
      </head>
      <body>
        <a class="skip" href="#main">
          Skip to the content
        </a>
        <header>
          <nav aria-label="Pages">
            <ul>
              {LINKS.map(([path, name]) => (
                <li key={path}>
                  <a href={`${root}${path}`}>{name}</a>
                </li>
              ))}
            </ul>
          </nav>
        </header>
        <main id="main" tabIndex={-1}>
          {children}
        </main>
        <footer>
          <p>
            Meridian witnesses AI decisions. What it shows is that something was recorded, when and by whom; never that
            a law is complied with.
          </p>
        </footer>
      </body>
    </html>
  );
}
