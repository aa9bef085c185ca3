import { Link, useNavigate } from '@tanstack/react-router';
import { type ReactNode, useCallback } from 'react';
import { isScreen } from './screen-paths.ts';

/** Ways from one screen to another. Addresses are written as texts, with their query. */

const targetOf = (href: string) => {
  const [to = '', query = ''] = href.split('?');
  return { to, search: Object.fromEntries(new URLSearchParams(query)) };
};

/** A link where there is such a screen, and its text where there is none. */
export const ScreenLink = (props: {
  to: string;
  className?: string | undefined;
  title?: string;
  /** The key for a new entry leads here too. */
  isNew?: boolean;
  children: ReactNode;
}) => {
  const { to, className, children, title, isNew } = props;
  if (!isScreen(to)) {
    return (
      <span className={className} title={title}>
        {children}
      </span>
    );
  }
  return (
    <Link {...targetOf(to)} className={className} title={title} data-new={isNew || undefined}>
      {children}
    </Link>
  );
};

/** @example const go = useGo(); go('/audit-log?resource=agents/planner'); */
export const useGo = (): ((href: string) => void) => {
  const navigate = useNavigate();
  return useCallback((href: string) => void navigate(targetOf(href)), [navigate]);
};
