import MiniSearch from 'minisearch';
import { OPTIONS, type Passage } from './index-options.ts';

/**
 * The search of the manual. The index is loaded when the field is first focused.
 *
 * Keys: `/` focuses the field, the arrow keys move through the results, Enter opens one, Escape closes the list.
 */

/** Results that are shown. */
const LIMIT = 20;

const form = document.querySelector<HTMLFormElement>('.search');
const input = form?.querySelector('input');
const status = form?.querySelector('[role="status"]');
const list = form?.querySelector('ul');
if (form && input && status && list) start({ form, input, status, list });
openContents();

type Parts = { form: HTMLFormElement; input: HTMLInputElement; status: Element; list: HTMLUListElement };

function start({ form, input, status, list }: Parts): void {
  const { index = '', root = '', home = '' } = form.dataset;
  let loading: Promise<MiniSearch<Passage>> | undefined;
  const load = (): Promise<MiniSearch<Passage>> => {
    loading ??= readIndex(index).catch((error: unknown) => {
      // The next attempt loads it again.
      loading = undefined;
      throw error;
    });
    return loading;
  };

  const show = (found: readonly Passage[], message: string): void => {
    status.textContent = message;
    list.replaceChildren(...found.slice(0, LIMIT).map((passage) => itemOf(passage, root, home)));
  };

  const search = async (): Promise<void> => {
    const query = input.value;
    if (query.trim() === '') return show([], '');
    try {
      const found = (await load()).search(query);
      // The query may have changed while the index was loading.
      if (query === input.value) show(found as unknown as Passage[], countOf(found.length));
    } catch {
      show([], 'The search index could not be loaded.');
    }
  };

  const close = (): void => {
    input.value = '';
    show([], '');
    input.focus();
  };

  form.hidden = false;
  input.addEventListener('focus', () => void load().catch(() => {}));
  input.addEventListener('input', () => void search());
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    list.querySelector('a')?.click();
  });
  form.addEventListener('keydown', (event) => {
    if (event.key === 'Escape') close();
    else if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
      event.preventDefault();
      move({ input, list }, event.key === 'ArrowDown' ? 1 : -1);
    }
  });
  // A result on the same page keeps the document.
  list.addEventListener('click', () => show([], ''));
  document.addEventListener('keydown', (event) => {
    if (event.key !== '/' || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.target instanceof HTMLInputElement) return;
    event.preventDefault();
    input.focus();
  });
}

async function readIndex(address: string): Promise<MiniSearch<Passage>> {
  const response = await fetch(address);
  if (!response.ok) throw new Error(`${response.status} of ${address}`);
  return MiniSearch.loadJSON<Passage>(await response.text(), OPTIONS);
}

function countOf(count: number): string {
  if (count === 0) return 'No results';
  if (count > LIMIT) return `The first ${LIMIT} of ${count} results`;
  return count === 1 ? '1 result' : `${count} results`;
}

function itemOf({ page, title, heading, anchor, excerpt }: Passage, root: string, home: string): HTMLElement {
  const link = document.createElement('a');
  link.href = (page === 'index' ? home : root + page) + (anchor === '' ? '' : `#${anchor}`);
  link.append(textIn('strong', heading));
  if (heading !== title) link.append(textIn('span', title));
  link.append(textIn('small', excerpt));
  const item = document.createElement('li');
  item.append(link);
  return item;
}

function textIn(tag: string, text: string): HTMLElement {
  const element = document.createElement(tag);
  element.textContent = text;
  return element;
}

/** Moves the focus through the field and the results. */
function move({ input, list }: Pick<Parts, 'input' | 'list'>, by: 1 | -1): void {
  const stops: (Element | null)[] = [input, ...list.querySelectorAll('a')];
  const at = stops.indexOf(document.activeElement);
  const next = stops[Math.min(Math.max(at + by, 0), stops.length - 1)];
  if (next instanceof HTMLElement) next.focus();
}

/** The table of contents is expanded where it has a column. */
function openContents(): void {
  const contents = document.querySelector<HTMLDetailsElement>('.contents details');
  if (contents && matchMedia('(min-width: 1200px)').matches) contents.open = true;
}
