import { Link, useNavigate } from '@tanstack/react-router';
import { type ReactNode, useCallback } from 'react';
import { useIsScreen } from './screen-paths.ts';

/** Navigation between screens. Addresses are texts that include the query. */

const targetOf = (href: string) => {
  const [to = '', query = ''] = href.split('?');
  return { to, search: Object.fromEntries(new URLSearchParams(query)) };
};

/** A link, or only its text if there is no such screen. */
export const ScreenLink = (props: {
  to: string;
  className?: string | undefined;
  title?: string;
  /** Creates an entry: the shortcut for a new one follows this link, and as a button it is the main one. */
  isNew?: boolean;
  /** -1 for a link that repeats another one. */
  tabIndex?: number;
  children: ReactNode;
}) => {
  const { to, className, children, title, isNew, tabIndex } = props;
  const isScreen = useIsScreen();
  if (!isScreen(to)) {
    return (
      <span className={className} title={title}>
        {children}
      </span>
    );
  }
  return (
    <Link
      {...targetOf(to)}
      className={className}
      title={title}
      tabIndex={tabIndex}
      data-new={isNew || undefined}
      data-tone={isNew ? 'primary' : undefined}
    >
      {children}
    </Link>
  );
};

/** @example const go = useGo(); go('/audit-log?resource=agents/planner'); */
export const useGo = (): ((href: string) => void) => {
  const navigate = useNavigate();
  return useCallback((href: string) => void navigate(targetOf(href)), [navigate]);
};
