"""Agreement with people: their labels, how well a judge agrees with them, what that corrects, what to label next."""
