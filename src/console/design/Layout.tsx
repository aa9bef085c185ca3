import type { ReactNode } from 'react';
import css from './Layout.module.css';

/** The frame of a screen: title, count, purpose, actions and content. */
export const Page = (props: {
  title: string;
  count?: string | undefined;
  purpose?: string;
  actions?: ReactNode;
  /** Fills the height of the window, so that only a part of the screen scrolls. */
  fills?: boolean | undefined;
  children: ReactNode;
}) => (
  <div className={`stack ${css.page}`} data-wide data-fills={props.fills || undefined}>
    <header className={`row spread ${css.head}`}>
      <div>
        <h1 className={css.title}>
          {props.title}
          {props.count !== undefined && <span className={`quiet number ${css.count}`}>{props.count}</span>}
        </h1>
        {props.purpose && <p className={`soft ${css.purpose}`}>{props.purpose}</p>}
      </div>
      {props.actions && <div className={`row ${css.actions}`}>{props.actions}</div>}
    </header>
    {props.children}
  </div>
);

export const Card = (props: {
  title: string;
  /** Context of the content, such as a time range. */
  note?: ReactNode;
  actions?: ReactNode;
  /** The content extends to the edges of the card. */
  flush?: boolean;
  className?: string | undefined;
  children: ReactNode;
}) => (
  <section className={`card column ${props.className ?? ''}`} aria-label={props.title}>
    <header className={`bar spread ${css.cardHead}`}>
      <h2 className={css.cardTitle}>
        {props.title}
        {props.note !== undefined && <span className={`quiet ${css.cardNote}`}>{props.note}</span>}
      </h2>
      {props.actions}
    </header>
    <div className={css.cardBody} data-flush={props.flush || undefined}>
      {props.children}
    </div>
  </section>
);

export const Stat = (props: {
  label: ReactNode;
  value: ReactNode;
  note?: ReactNode;
  tone?: 'warn' | 'error' | undefined;
}) => (
  <div className="column">
    <span className="small">{props.label}</span>
    <span className={`${css.statValue} tone`} data-tone={props.tone}>
      {props.value}
    </span>
    {props.note !== undefined && <span className="quiet">{props.note}</span>}
  </div>
);

/** A part of a drawer or a panel. */
export const Section = ({ title, children }: { title: string; children: ReactNode }) => (
  <section className="section" aria-label={title}>
    <h3>{title}</h3>
    {children}
  </section>
);

type Fact = readonly [name: string, value: ReactNode];

/** Pairs of name and value, from top to bottom; other rows are left out. */
export const Facts = ({ rows }: { rows: readonly (Fact | false | undefined | '')[] }) => (
  <dl className={css.facts}>
    {rows
      .filter((row) => !!row)
      .map(([name, value]) => (
        <div key={name} style={{ display: 'contents' }}>
          <dt className="soft">{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
  </dl>
);
