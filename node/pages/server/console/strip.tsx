import type { StripSection } from '../../console-page.ts';
import type { SectionProps } from './console.tsx';

const WIDTH = 720;
const HEIGHT = 24;
/** What is missing is seen, however little of the whole it is. */
const MIN_WIDTH = 3;

/** A bar of all that there should be, with what is missing left light, and the same as a table. */
export function StripView({ section, root, id }: SectionProps<StripSection>) {
  const { title, json, member, first, last, gaps } = section;
  const step = WIDTH / Math.max(1, last - first + 1);
  return (
    <section aria-labelledby={id}>
      <h2 id={id}>{title}</h2>
      <svg
        class="chart"
        viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
        role="img"
        aria-label={`${title}: ${first} to ${last}, ${gaps.length} gaps`}
      >
        <rect width={WIDTH} height={HEIGHT} />
        {gaps.map(({ from, to, reason }) => {
          const width = Math.max(MIN_WIDTH, (to - from + 1) * step);
          const x = Math.min((from - first) * step, WIDTH - width);
          return (
            <rect key={from} class="gap" x={x} width={width} height={HEIGHT}>
              <title>{`${from} to ${to}: ${reason}`}</title>
            </rect>
          );
        })}
      </svg>
      {gaps.length === 0 ? (
        <p class="state good">● Nothing is missing of what was checked.</p>
      ) : (
        <table data-json={json} data-member={member}>
          <thead>
            <tr>
              <th scope="col">From</th>
              <th scope="col">To</th>
              <th scope="col">Why</th>
            </tr>
          </thead>
          <tbody>
            {gaps.map(({ from, to, reason }) => (
              <tr key={from}>
                <td>
                  <data data-field="from" value={String(from)}>
                    {String(from)}
                  </data>
                </td>
                <td>
                  <data data-field="to" value={String(to)}>
                    {String(to)}
                  </data>
                </td>
                <td>{reason}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      <p class="ways">
        <a href={`${root}${json.slice(1)}`}>{`${title} as JSON`}</a>
      </p>
    </section>
  );
}
