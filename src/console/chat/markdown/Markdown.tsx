import type { MarkedToken, Token, Tokens } from 'marked';
import { Fragment, memo, type ReactNode, useEffect, useMemo, useRef } from 'react';
import { Scroller } from '../../design/Scroller.tsx';
import { useTexts } from '../../i18n/locale.ts';
import texts from '../texts.json' with { type: 'json' };
import { Code } from './Code.tsx';
import { grow, NOTHING } from './growing.ts';
import { safeHref, safeImage } from './lex.ts';
import css from './Markdown.module.css';

/** Keys by position are stable, because the tokens before a position do not change while a response grows. */
const each = <T,>(items: readonly T[], draw: (item: T) => ReactNode): ReactNode =>
  items.map((item, place) => {
    const key = place;
    return <Fragment key={key}>{draw(item)}</Fragment>;
  });

const inside = ({ tokens = [] }: { tokens?: Token[] | undefined }): ReactNode => each(tokens, drawn);

const Link = ({ href, children }: { href: string; children: ReactNode }) => {
  const safe = safeHref(href);
  return safe === undefined ? (
    children
  ) : (
    <a href={safe} target="_blank" rel="noreferrer noopener">
      {children}
    </a>
  );
};

const Image = ({ href, text }: { href: string; text: string }) => {
  const t = useTexts(texts);
  const safe = safeImage(href);
  if (safe !== undefined) return <img className="media" src={safe} alt={text} />;
  return <Link href={href}>{t('image', { name: text || href })}</Link>;
};

/** The screen uses the first two heading levels. */
const Heading = ({ depth, children }: { depth: number; children: ReactNode }) =>
  depth <= 2 ? <h3 dir="auto">{children}</h3> : <h4 dir="auto">{children}</h4>;

const List = ({ ordered, start, items }: Tokens.List) => {
  const rows = each(items, (item) => (
    <li dir="auto" data-checked={item.task ? (item.checked ?? false) : undefined}>
      {inside(item)}
    </li>
  ));
  return ordered ? <ol start={start === '' ? 1 : start}>{rows}</ol> : <ul>{rows}</ul>;
};

const Table = ({ header, rows }: Tokens.Table) => {
  const t = useTexts(texts);
  return (
    <Scroller label={t('table')} className={css.table}>
      <table>
        <thead>
          <tr>
            {each(header, (cell) => (
              <th dir="auto" data-align={cell.align ?? undefined}>
                {inside(cell)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {each(rows, (row) => (
            <tr>
              {each(row, (cell) => (
                <td dir="auto" data-align={cell.align ?? undefined}>
                  {inside(cell)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </Scroller>
  );
};

/** Blocks and inline tokens. A text of a list item contains tokens; a text of a paragraph does not. */
function drawn(token: Token): ReactNode {
  // Without extensions, `marked` creates no other tokens.
  const known = token as MarkedToken;
  switch (known.type) {
    case 'paragraph':
      return <p dir="auto">{inside(known)}</p>;
    case 'heading':
      return <Heading depth={known.depth}>{inside(known)}</Heading>;
    case 'code':
      return <Code language={known.lang?.split(/\s/, 1)[0] ?? ''} text={known.text} />;
    case 'blockquote':
      return <blockquote>{inside(known)}</blockquote>;
    case 'hr':
      return <hr />;
    case 'list':
      return <List {...known} />;
    case 'table':
      return <Table {...known} />;
    case 'checkbox':
      return <span aria-hidden="true">{known.checked ? '☑ ' : '☐ '}</span>;
    case 'strong':
    case 'em':
    case 'del': {
      const Tag = known.type;
      return <Tag>{inside(known)}</Tag>;
    }
    case 'codespan':
      return <code>{known.text}</code>;
    case 'br':
      return <br />;
    case 'link':
      return <Link href={known.href}>{inside(known)}</Link>;
    case 'image':
      return <Image href={known.href} text={known.text} />;
    case 'text':
      return known.tokens ? inside(known) : known.text;
    case 'escape':
      return known.text;
    default:
      return null;
  }
}

/** Memoized: while a text grows, only its last blocks change. */
const Block = memo(({ token }: { token: Token }) => drawn(token));

/** Text of an agent, with anything that resembles a secret masked. */
export const Markdown = memo(({ text }: { text: string }) => {
  const last = useRef(NOTHING);
  const growing = useMemo(() => grow(last.current, text), [text]);
  useEffect(() => {
    last.current = growing;
  }, [growing]);
  return (
    <div className={`stack ${css.markdown}`}>
      {each(growing.tokens, (token) => (
        <Block token={token} />
      ))}
    </div>
  );
});
