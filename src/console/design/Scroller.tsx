import type { ReactNode, Ref } from 'react';

/** What scrolls has to be reachable by keys, or its lower part is for pointers only (WCAG 2.1.1). */
const REACHABLE = { tabIndex: 0 };

/** A part of a screen that scrolls by itself. */
export const Scroller = (props: {
  label: string;
  className?: string | undefined;
  ref?: Ref<HTMLElement>;
  /** It may take most of the height of the window. */
  tall?: boolean | undefined;
  children: ReactNode;
}) => (
  <section
    {...REACHABLE}
    ref={props.ref}
    aria-label={props.label}
    className={props.className}
    data-tall={props.tall || undefined}
  >
    {props.children}
  </section>
);
