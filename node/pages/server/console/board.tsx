import type { BoardSection, Card } from '../../console-page.ts';
import type { Root } from '../../page.ts';
import { CellView } from './cell.tsx';
import type { SectionProps } from './console.tsx';

/** Things by their states: columns where there is space for them, one below the other where there is not. */
export function BoardView({ section, root, id }: SectionProps<BoardSection>) {
  const { title, json, columns } = section;
  return (
    <section aria-labelledby={id}>
      <h2 id={id}>{title}</h2>
      <div class="board">
        {columns.map(({ title: state, cards }) => (
          <section key={state} aria-label={state}>
            <h3>{`${state} (${cards.length})`}</h3>
            {cards.map((card) => (
              <CardView key={card.member} card={card} json={json} root={root} />
            ))}
          </section>
        ))}
      </div>
      <p class="ways">
        <a href={`${root}${json.slice(1)}`}>{`${title} as JSON`}</a>
      </p>
    </section>
  );
}

interface CardProps {
  readonly card: Card;
  readonly json: string;
  readonly root: Root;
}

function CardView({ card: { member, facts, way }, json, root }: CardProps) {
  return (
    <article data-json={json} data-member={member}>
      <dl>
        {facts.map(({ title, cell }) => [
          <dt key={`t ${title}`}>{title}</dt>,
          <dd key={`d ${title}`}>
            <CellView cell={cell} root={root} />
          </dd>,
        ])}
      </dl>
      <p class="ways">
        <CellView cell={way} root={root} />
      </p>
    </article>
  );
}
