import { Fragment, memo, type ReactNode, useEffect, useMemo, useRef } from 'react';
import { CopyButton } from '../../design/Copy.tsx';
import { Scroller } from '../../design/Scroller.tsx';
import { useTexts } from '../../i18n/locale.ts';
import { texts } from '../texts.ts';
import { grow, NOTHING } from './growing.ts';
import type { Inline } from './inline.ts';
import css from './Markdown.module.css';
import type { ListItem, Node } from './parse.ts';

/** Nodes have no identity beside their place, and what is before one does not change while an answer grows. */
const each = <T,>(items: readonly T[], draw: (item: T) => ReactNode): ReactNode =>
  items.map((item, place) => {
    const key = place;
    return <Fragment key={key}>{draw(item)}</Fragment>;
  });

const TAGS = { strong: 'strong', em: 'em', strike: 'del' } as const;

const inline = (node: Inline): ReactNode => {
  switch (node.kind) {
    case 'text':
      return node.text;
    case 'code':
      return <code>{node.text}</code>;
    case 'break':
      return <br />;
    case 'link':
      return (
        <a href={node.href} target="_blank" rel="noreferrer noopener">
          {each(node.children, inline)}
        </a>
      );
    default: {
      const Tag = TAGS[node.kind];
      return <Tag>{each(node.children, inline)}</Tag>;
    }
  }
};

export const Code = ({ language, text }: { language: string; text: string }) => {
  const t = useTexts(texts);
  return (
    <div className={css.code}>
      <div className={css.codeHead}>
        <span>{language || t('code')}</span>
        <CopyButton text={text} label={t('code.copy')} />
      </div>
      <Scroller label={language || t('code')} className={css.codeBody}>
        <pre>{text}</pre>
      </Scroller>
    </div>
  );
};

const item = ({ checked, children }: ListItem): ReactNode => {
  const [only] = children;
  return (
    <li data-checked={checked}>
      {checked !== undefined && <span aria-hidden="true">{checked ? '☑ ' : '☐ '}</span>}
      {children.length === 1 && only?.kind === 'paragraph'
        ? each(only.children, inline)
        : each(children, block)}
    </li>
  );
};

const block = (node: Node): ReactNode => {
  switch (node.kind) {
    case 'heading': {
      // The screen has the first two levels.
      const Tag = node.level <= 2 ? 'h3' : 'h4';
      return <Tag>{each(node.children, inline)}</Tag>;
    }
    case 'paragraph':
      return <p>{each(node.children, inline)}</p>;
    case 'code':
      return <Code language={node.language} text={node.text} />;
    case 'quote':
      return <blockquote>{each(node.children, block)}</blockquote>;
    case 'rule':
      return <hr />;
    case 'list':
      return node.start === undefined ? (
        <ul>{each(node.items, item)}</ul>
      ) : (
        <ol start={node.start}>{each(node.items, item)}</ol>
      );
    case 'table':
      return <Table head={node.head} rows={node.rows} />;
  }
};

const Table = ({ head, rows }: { head: Inline[][]; rows: Inline[][][] }) => {
  const t = useTexts(texts);
  return (
    <Scroller label={t('table')} className={css.table}>
      <table>
        <thead>
          <tr>
            {each(head, (cell) => (
              <th>{each(cell, inline)}</th>
            ))}
          </tr>
        </thead>
        <tbody>
          {each(rows, (row) => (
            <tr>
              {each(row, (cell) => (
                <td>{each(cell, inline)}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </Scroller>
  );
};

/** Of a text that grows, only the last ones are others than before. */
const Block = memo(({ node }: { node: Node }) => block(node));

/** Text of an agent; what looks like a secret in it is masked. */
export const Markdown = memo(({ text }: { text: string }) => {
  const last = useRef(NOTHING);
  const growing = useMemo(() => grow(last.current, text), [text]);
  useEffect(() => {
    last.current = growing;
  }, [growing]);
  return (
    <div className={css.markdown}>
      {each(growing.nodes, (node) => (
        <Block node={node} />
      ))}
    </div>
  );
});
