/** A field that hides the operations in which what is typed does not occur. Without it all of them stand there. */
function addSearch(place: HTMLElement): void {
  const label = document.createElement('label');
  label.htmlFor = 'search';
  label.textContent = 'Search ';
  const field = document.createElement('input');
  field.id = 'search';
  field.type = 'search';
  const count = document.createElement('p');
  count.role = 'status';
  place.append(label, field, count);
  const operations = [...document.querySelectorAll<HTMLElement>('.operation')].map((element) => {
    return { element, text: element.textContent.toLowerCase() };
  });
  const groups = [...document.querySelectorAll<HTMLElement>('.group')];
  field.addEventListener('input', () => {
    const words = field.value
      .toLowerCase()
      .split(/\s+/)
      .filter((word) => word !== '');
    let shown = 0;
    for (const { element, text } of operations) {
      element.hidden = !words.every((word) => text.includes(word));
      if (!element.hidden) shown++;
    }
    for (const group of groups) group.hidden = group.querySelector('.operation:not([hidden])') === null;
    count.textContent = words.length === 0 ? '' : `${shown} of ${operations.length} operations`;
  });
}

const place = document.getElementById('docs-search');
if (place !== null) addSearch(place);
const named = location.hash === '' ? null : document.getElementById(decodeURIComponent(location.hash.slice(1)));
if (named instanceof HTMLDetailsElement) named.open = true;
