#include <stdio.h>
int main(){printf("bad.c:7: no money\n");return 1;}