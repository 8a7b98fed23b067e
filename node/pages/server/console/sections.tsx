import type { FactsSection, LinksSection, QrSection, TableSection, TextSection } from '../../console-page.ts';
import { Foreign } from '../foreign.tsx';
import { QrCode } from '../qr-code.tsx';
import { CellView } from './cell.tsx';
import type { SectionProps } from './console.tsx';

/** A list of the API, with the way to the same as JSON. */
export function TableView({ section, root, id }: SectionProps<TableSection>) {
  const { title, about, json, member, columns, rows, empty, next } = section;
  return (
    <section aria-labelledby={id}>
      <h2 id={id}>{title}</h2>
      {about === undefined ? null : <p>{about}</p>}
      {rows.length === 0 ? (
        <div class="empty">
          <p>{empty.text}</p>
          {empty.curl === null ? null : <pre tabIndex={0}>{empty.curl}</pre>}
        </div>
      ) : (
        <div class="scroll" role="region" aria-labelledby={id} tabIndex={0}>
          <table {...(json === null ? {} : { 'data-json': json })} data-member={member}>
            <thead>
              <tr>
                {columns.map(({ field, title: name }) => (
                  <th key={field} scope="col">
                    {name}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {rows.map((cells, i) => (
                <tr key={i}>
                  {cells.map((cell, j) => (
                    <td key={j}>
                      <CellView cell={cell} root={root} />
                    </td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      <p class="ways">
        {next === null ? null : (
          <>
            <a href={root + next} rel="next">
              Next page
            </a>{' '}
          </>
        )}
        {json === null ? null : <a href={`${root}${json.slice(1)}`}>{`${title} as JSON`}</a>}
      </p>
    </section>
  );
}

/** Members of one answer. */
export function FactsView({ section, root, id }: SectionProps<FactsSection>) {
  const { title, json, facts } = section;
  return (
    <section aria-labelledby={id}>
      <h2 id={id}>{title}</h2>
      <dl {...(json === null ? {} : { 'data-json': json })}>
        {facts.map(({ title: name, cell }, i) => [
          <dt key={`t${i}`}>
            <Foreign text={name} />
          </dt>,
          <dd key={`d${i}`}>
            <CellView cell={cell} root={root} />
          </dd>,
        ])}
      </dl>
      {json === null ? null : (
        <p class="ways">
          <a href={`${root}${json.slice(1)}`}>{`${title} as JSON`}</a>
        </p>
      )}
    </section>
  );
}

/** Words, and a text to be copied. */
export function TextView({ section, id }: SectionProps<TextSection>) {
  const { title, tone, paragraphs, copy } = section;
  return (
    <section {...(title === null ? { 'aria-label': 'Notice' } : { 'aria-labelledby': id })}>
      {title === null ? null : <h2 id={id}>{title}</h2>}
      <div class={tone === 'none' ? '' : `state ${tone}`} {...(tone === 'none' ? {} : { role: 'status' as const })}>
        {paragraphs.map((text, i) => (
          <p key={i}>
            <Foreign text={text} />
          </p>
        ))}
        {copy === null ? null : (
          <pre tabIndex={0}>
            <Foreign text={copy} />
          </pre>
        )}
      </div>
    </section>
  );
}

/** A picture for a telephone, and its text for whoever has none. */
export function QrView({ section, id }: SectionProps<QrSection>) {
  const { title, about, text, copy } = section;
  return (
    <section aria-labelledby={id}>
      <h2 id={id}>{title}</h2>
      <p>{about}</p>
      <QrCode text={text} label={title} />
      <pre tabIndex={0}>
        <Foreign text={copy} />
      </pre>
    </section>
  );
}

export function LinksView({ section, root, id }: SectionProps<LinksSection>) {
  const { title, links } = section;
  return (
    <section aria-labelledby={id}>
      <h2 id={id}>{title}</h2>
      <ul class="links">
        {links.map(({ text, href }) => (
          <li key={href}>
            <a href={root + href}>
              <Foreign text={text} />
            </a>
          </li>
        ))}
      </ul>
    </section>
  );
}
