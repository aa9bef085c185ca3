import type { ReactNode } from 'react';
import { buttonLook } from '../design/Button.tsx';
import { EmptyState } from '../design/Notice.tsx';
import { ScreenLink } from './links.tsx';

/** Shown for an address of an entry that does not exist, with a link to the list. */
export const NoSuch = (props: { title: string; to: string; all: string; children?: ReactNode }) => (
  <EmptyState
    isScreen
    title={props.title}
    actions={
      <ScreenLink to={props.to} className={buttonLook}>
        {props.all}
      </ScreenLink>
    }
  >
    {props.children}
  </EmptyState>
);
