import type { ReactNode } from 'react';
import { Icon, type IconName } from './Icon.tsx';
import css from './Notice.module.css';

export type NoticeTone = 'neutral' | 'warn' | 'error';

export const Notice = (props: {
  tone?: NoticeTone;
  icon?: IconName;
  title: string;
  /** Without a frame, for use within a card. */
  plain?: boolean | undefined;
  children?: ReactNode;
  actions?: ReactNode;
}) => {
  const { tone = 'neutral' } = props;
  const icon = props.icon ?? (tone === 'neutral' ? 'info' : tone);
  return (
    <div
      className={`tint ${css.notice}`}
      data-tone={tone}
      data-plain={props.plain || undefined}
      role={tone === 'error' ? 'alert' : undefined}
    >
      <Icon name={icon} />
      <div className="grow">
        <div className={css.title}>{props.title}</div>
        {props.children && <div className="soft">{props.children}</div>}
        {props.actions && <div className={`row ${css.actions}`}>{props.actions}</div>}
      </div>
    </div>
  );
};

export const RequestLine = ({ children }: { children: ReactNode }) => <div className="mono">{children}</div>;

/** Shown instead of an empty list: what it would contain, and the first action. */
export const EmptyState = (props: {
  title: string;
  /** The state is the whole screen, so its title is that of the screen. */
  isScreen?: boolean;
  children?: ReactNode;
  actions?: ReactNode;
}) => (
  <div className={`stack ${css.empty}`}>
    {props.isScreen ? <h1>{props.title}</h1> : <h2>{props.title}</h2>}
    {props.children && <p>{props.children}</p>}
    {props.actions && <div className={`row ${css.actions}`}>{props.actions}</div>}
  </div>
);

const SIX = [1, 2, 3, 4, 5, 6];

/** A placeholder with the height of the expected rows. It appears only after a short delay. */
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
