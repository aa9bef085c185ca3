import type { ReactNode } from 'react';
import { buttonLook } from '../design/Button.tsx';
import { EmptyState } from '../design/Notice.tsx';
import { ScreenLink } from './links.tsx';

/** An address names what there is not: it leads to all that there is. */
export const NoSuch = (props: { title: string; to: string; all: string; children?: ReactNode }) => (
  <EmptyState
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
