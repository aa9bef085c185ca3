import type { ReactNode } from 'react';
import { Icon, type IconName } from './Icon.tsx';
import css from './Notice.module.css';

export type NoticeTone = 'neutral' | 'warn' | 'error';

/** Something about the screen that its user should know. */
export const Notice = (props: {
  tone?: NoticeTone;
  icon?: IconName;
  title: string;
  /** Without a frame, where a card is around it. */
  plain?: boolean | undefined;
  /** Beside the text. */
  children?: ReactNode;
  actions?: ReactNode;
}) => {
  const { tone = 'neutral' } = props;
  const icon = props.icon ?? (tone === 'neutral' ? 'info' : tone);
  return (
    <div
      className={css.notice}
      data-tone={tone}
      data-plain={props.plain || undefined}
      role={tone === 'error' ? 'alert' : undefined}
    >
      <Icon name={icon} />
      <div className={css.body}>
        <div className={css.title}>{props.title}</div>
        {props.children && <div className={css.text}>{props.children}</div>}
        {props.actions && <div className={css.actions}>{props.actions}</div>}
      </div>
    </div>
  );
};

export const RequestLine = ({ children }: { children: ReactNode }) => (
  <div className={css.request}>{children}</div>
);

/** There is nothing: what it would be, and the first thing to do. */
export const EmptyState = (props: { title: string; children?: ReactNode; actions?: ReactNode }) => (
  <div className={css.empty}>
    <h2>{props.title}</h2>
    {props.children && <p>{props.children}</p>}
    {props.actions && <div className={css.actions}>{props.actions}</div>}
  </div>
);

const SIX = [1, 2, 3, 4, 5, 6];

/** What comes will be of this height. It shows only when it takes a moment. */
export const SkeletonRows = ({ rows = 6 }: { rows?: number }) => (
  <div className={css.skeletonRows} aria-hidden="true" data-testid="skeleton">
    {SIX.slice(0, rows).map((row) => (
      <div key={row} className={css.skeletonRow}>
        <div className={css.skeleton} />
        <div className={css.skeleton} />
        <div className={css.skeleton} />
        <div className={css.skeleton} />
      </div>
    ))}
  </div>
);
