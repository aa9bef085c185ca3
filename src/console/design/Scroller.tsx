import type { ReactNode, Ref } from 'react';

/** A scrollable area has to be focusable, or keyboard users cannot reach its lower part (WCAG 2.1.1). */
const REACHABLE = { tabIndex: 0 };

/** A part of a screen that scrolls separately. It is no landmark: many have the name of the card that contains them. */
export const Scroller = (props: {
  label: string;
  className?: string | undefined;
  ref?: Ref<HTMLElement>;
  /** The area may occupy most of the height of the window. */
  tall?: boolean | undefined;
  children: ReactNode;
}) => (
  // biome-ignore lint/a11y/useSemanticElements: a fieldset has a border and grows with its content.
  <section
    {...REACHABLE}
    role="group"
    ref={props.ref}
    aria-label={props.label}
    className={props.className}
    data-tall={props.tall || undefined}
  >
    {props.children}
  </section>
);
