import type { Virtualizer } from '@tanstack/react-virtual';
import type { ReactNode } from 'react';

/** The visible rows of a long list, each at its position in the scrolling element. */
export const PlacedRows = (props: {
  virtual: Virtualizer<HTMLElement, Element>;
  testId?: string | undefined;
  rowLook?: string | undefined;
  /** The content of the row with this index. */
  children: (index: number) => ReactNode;
}) => {
  const { virtual, rowLook = '' } = props;
  return (
    <ol className="sheet" style={{ height: virtual.getTotalSize() }} data-testid={props.testId}>
      {virtual.getVirtualItems().map(({ index, start, key }) => (
        <li
          key={key}
          ref={virtual.measureElement}
          data-index={index}
          className={`placed ${rowLook}`}
          style={{ transform: `translateY(${start}px)` }}
        >
          {props.children(index)}
        </li>
      ))}
    </ol>
  );
};
